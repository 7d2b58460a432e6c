// Collects the methods of each path while routes are registered, for the `Allow` header of 405 responses.

import type { FastifyInstance } from 'fastify'

export class AllowedMethods {
  readonly #paths = new Map<string, { pattern: RegExp; methods: Set<string> }>()

  /** Call before the first route is registered. */
  observe(server: FastifyInstance): void {
    server.addHook('onRoute', ({ url, method }) => {
      if (url.includes('*')) return
      for (const one of [method].flat()) this.#add(url, one)
    })
  }

  /** Methods of a path (without query), including OPTIONS; undefined if there is no such path. */
  find(path: string): readonly string[] | undefined {
    const methods = new Set<string>()
    for (const known of this.#paths.values()) {
      if (known.pattern.test(path)) for (const method of known.methods) methods.add(method)
    }
    return methods.size > 0 ? [...methods, 'OPTIONS'] : undefined
  }

  #add(url: string, method: string): void {
    let known = this.#paths.get(url)
    if (!known) {
      const pattern = url.replace(/\/$/, '').replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+')
      known = { pattern: new RegExp(`^${pattern}/?$`), methods: new Set() }
      this.#paths.set(url, known)
    }
    known.methods.add(method)
  }
}
