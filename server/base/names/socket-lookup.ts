// Our resolver as the `lookup` option of `net.connect` and similar functions, for connections that libraries open.

import type { LookupFunction } from 'node:net'
import type { NameResolver } from './name-resolver.ts'

export function createSocketLookup(names: Pick<NameResolver, 'lookup'>, account?: number): LookupFunction {
  return (host, { all, family }, callback) => {
    const wanted = family === 'IPv4' ? 4 : family === 'IPv6' ? 6 : family || undefined
    names.lookup(host, { account }).then(
      (found) => {
        const fitting = found.filter((each) => wanted === undefined || each.family === wanted)
        const [first] = fitting
        if (!first)
          callback(Object.assign(new Error(`no address of ${host} is of this kind`), { code: 'ENOTFOUND' }), '')
        else if (all) callback(null, fitting)
        else callback(null, first.address, first.family)
      },
      (error: Error) => callback(error, ''),
    )
  }
}
