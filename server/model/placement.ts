// Which server should have a camera. Every server computes the same from the names of those that are alive, and when one
// comes or goes, only the cameras that it gets or had are moved (rendezvous hashing).

/** Undefined if there is no server. */
export function placeCamera(cameraId: number, servers: readonly string[]): string | undefined {
  let best: { readonly server: string; readonly rank: number } | undefined
  for (const server of servers) {
    const rank = hash(`${cameraId} ${server}`)
    if (!best || rank > best.rank || (rank === best.rank && server < best.server)) best = { server, rank }
  }
  return best?.server
}

/** FNV-1a with the finish of MurmurHash3, without which names that differ in their last letter rank alike. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193)
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return (value ^ (value >>> 16)) >>> 0
}
