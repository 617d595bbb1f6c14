import { expect, test } from "vitest";
import { isSecretVariable } from "../src/index.js";

test.each([
  ["DATABASE_URL", "postgres://u:secretpw@h/db"],
  ["GITHUB_PAT", "ghp_x"],
  ["NPM_AUTH", "abc"],
  ["my_api_key", "abc"],
  ["DB_PWD", "abc"],
  ["SESSION_COOKIE", "abc"],
  ["AZURE_CONNECTION_STRING", "abc"],
  ["REDIS", "redis://:pw@h:1"],
])("%s is a secret", (name, value) => {
  expect(isSecretVariable(name, value)).toBe(true);
});

test.each([
  ["PATH", "/usr/bin:/bin"],
  ["PWD", "/home/u"],
  ["HOME", "/home/u"],
  ["AUTHOR", "a"],
  ["PATTERN", "x"],
  ["HTTP_PROXY", "http://proxy:8080"],
  ["DATABASE_URL", "postgres://h/db"],
  ["REMOTE", "ssh://git@host/repo"],
])("%s is none", (name, value) => {
  expect(isSecretVariable(name, value)).toBe(false);
});
