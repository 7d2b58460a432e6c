// Which server should have a camera. Every server computes the same from the servers that are alive, and when one comes or
// goes, only the cameras that it gets or had are moved (rendezvous hashing; weighted as in Schindelhauer and Schomaker,
// "Weighted Distributed Hash Tables", 2005).

/**
 * A server that may have cameras. `labels`: what cameras may ask for, for instance the site that it is at. Each server's share
 * is in proportion to its `processors`.
 */
export type CandidateServer = { readonly name: string; readonly labels: readonly string[]; readonly processors: number }

/** Where a camera should be: at the server of this name, or at one that has this label; elsewhere if there is none. */
export type PlacementPreference = { readonly node?: string | undefined; readonly label?: string | undefined }

export type Placement = {
  readonly server: string
  /** What decided: the name or the label that the camera asks for, or that cameras are spread over all. */
  readonly by: 'name' | 'label' | 'spread'
}

/** Undefined if there is no server. */
export function placeCamera(
  cameraId: number,
  servers: readonly CandidateServer[],
  { node, label }: PlacementPreference = {},
): Placement | undefined {
  if (node !== undefined && servers.some(({ name }) => name === node)) return { server: node, by: 'name' }
  const labelled = label === undefined ? [] : servers.filter(({ labels }) => labels.includes(label))
  let best: { readonly server: string; readonly rank: number } | undefined
  for (const { name: server, processors } of labelled.length > 0 ? labelled : servers) {
    const rank = processors / -Math.log((hash(`${cameraId} ${server}`) + 0.5) / 2 ** 32)
    if (!best || rank > best.rank || (rank === best.rank && server < best.server)) best = { server, rank }
  }
  return best && { server: best.server, by: labelled.length > 0 ? 'label' : 'spread' }
}

/** FNV-1a with the finish of MurmurHash3, without which names that differ in their last letter rank alike. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193)
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return (value ^ (value >>> 16)) >>> 0
}
