import { BlockList, isIP } from "node:net";

/** Addresses that are not the public web, by the registries of special-purpose addresses (RFC 6890 and its successors). */
const blocked = new BlockList();
for (const range of [
  "0.0.0.0/8", // this network
  "10.0.0.0/8",
  "100.64.0.0/10", // shared by carriers; also the metadata of some clouds
  "127.0.0.0/8",
  "169.254.0.0/16", // link-local, with the metadata of most clouds
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24", // for examples
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15", // for measurements
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3", // to many, reserved, to all
]) {
  const [net = "", bits] = range.split("/");
  blocked.addSubnet(net, Number(bits), "ipv4");
}

/** Of IPv6 only what is given out for the public internet, but for what is no single machine there. */
const globalV6 = new BlockList();
globalV6.addSubnet("2000::", 3, "ipv6");
const blockedV6 = new BlockList();
for (const range of [
  "2001::/23", // Teredo, ORCHID and others
  "2001:db8::/32", // for examples
  "2002::/16", // holds an IPv4 address
  "3fff::/20",
]) {
  const [net = "", bits] = range.split("/");
  blockedV6.addSubnet(net, Number(bits), "ipv6");
}

/** True for an IP address on the public internet. */
export function isPublic(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !blocked.check(address, "ipv4");
  if (family !== 6) return false;
  const plain = address.replace(/%.*$/, "");
  return globalV6.check(plain, "ipv6") && !blockedV6.check(plain, "ipv6");
}

/** True for an address of this machine itself. */
export function isLoopback(address: string): boolean {
  return address === "::1" || (isIP(address) === 4 && address.startsWith("127."));
}
