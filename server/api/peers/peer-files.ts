// Recordings in the folders of another server: that one answers for its files, over the connection between servers. What
// was read is kept for a while (server/places/bucket/block-cache.ts), as parts of objects in buckets are.

import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { AppError } from '../../base/error.ts'
import type { Place } from '../../model/place.ts'
import type { FileLocation } from '../../model/segment-views.ts'
import type { FootageFile } from '../../places/place-files.ts'
import type { RemoteFiles } from '../../places/places.ts'
import type { Forwarder } from './forwarder.ts'
import type { Peer } from './membership.ts'

/** Larger than any that is asked for. */
const maxPartBytes = 4 * 2 ** 20

export type PeerFilesOptions = {
  readonly listPlaces: () => Promise<readonly Place[]>
  /** A server that is alive. */
  readonly findPeer: (name: string) => Peer | undefined
  readonly forwarder: Pick<Forwarder, 'readPart'>
}

export class PeerFiles implements RemoteFiles {
  readonly #options: PeerFilesOptions
  /** The servers of places; a place never changes its machine. */
  readonly #servers = new Map<number, string>()

  constructor(options: PeerFilesOptions) {
    this.#options = options
  }

  async read(
    file: FileLocation,
    at: number,
    bytes: number,
  ): Promise<{ readonly data: Uint8Array; readonly size: number }> {
    const server = await this.#findServer(file.placeId)
    const peer = this.#options.findPeer(server)
    if (!peer) throw new AppError('unavailable', `the server ${server}, which has this recording, does not answer`)
    return this.#options.forwarder.readPart(peer, `/files/${file.placeId}/${file.path}`, at, bytes)
  }

  async #findServer(placeId: number): Promise<string> {
    const known = this.#servers.get(placeId)
    if (known !== undefined) return known
    for (const { id, node } of await this.#options.listPlaces()) if (node !== undefined) this.#servers.set(id, node)
    const found = this.#servers.get(placeId)
    if (found === undefined) throw new AppError('unavailable', `place ${placeId} of the recordings is not known`)
    return found
  }
}

/** `open`: a recording in a folder of this server; throws 'not_found' and 'unavailable'. */
export function registerPeerFiles(
  server: FastifyInstance,
  {
    isFromPeer,
    open,
  }: { isFromPeer(request: IncomingMessage): boolean; open(file: FileLocation): Promise<FootageFile> },
): void {
  server.get('/files/:place_id/*', async (request, reply) => {
    if (!isFromPeer(request.raw)) throw new AppError('not_found', 'no such path')
    const { place_id, '*': path } = request.params as { readonly place_id: string; readonly '*': string }
    const [, first, last] = /^bytes=(\d{1,15})-(\d{1,15})$/.exec(request.headers.range ?? '') ?? []
    const at = Number(first)
    const length = Number(last) - at + 1
    if (!(length >= 1 && length <= maxPartBytes)) throw new AppError('invalid', 'expected a range of bytes')
    await using file = await open({ placeId: Number(place_id), path })
    const target = Buffer.alloc(length)
    const { bytesRead } = await file.read(target, 0, length, at)
    const { size } = await file.stat()
    const { raw } = reply.hijack()
    if (bytesRead === 0) return void raw.writeHead(416, { 'content-range': `bytes */${size}` }).end()
    raw.writeHead(206, {
      'content-type': 'application/octet-stream',
      'content-length': bytesRead,
      'content-range': `bytes ${at}-${at + bytesRead - 1}/${size}`,
    })
    raw.end(target.subarray(0, bytesRead))
  })
}
