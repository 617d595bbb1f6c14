const SECRET_NAME =
  /KEY|SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|CONNECTION_?STRING|(?:^|_)(?:PASS|PAT|AUTH|COOKIE|JWT)$|_PWD$/i;

/** A URL with a password in it. */
const SECRET_VALUE = /\b[a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:[^/\s@]+@/i;

/** Whether a variable of an environment looks like a secret: by its name, or as a URL with a password in it. */
export function isSecretVariable(name: string, value: string): boolean {
  return SECRET_NAME.test(name) || SECRET_VALUE.test(value);
}
