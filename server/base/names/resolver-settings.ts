// Settings from resolv.conf(5) and its environment variables. The DNS servers are read by the resolver itself.

export type ResolverSettings = {
  /** Domains that names are looked up in. */
  readonly search: readonly string[]
  /** Names with fewer dots are looked up in the search domains first. */
  readonly ndots: number
  /** The first timeout per server, and the number of attempts. */
  readonly timeoutMs: number
  readonly tries: number
}

/** Shorter than the usual 5 s, because a lookup has ten seconds for all servers and search domains. */
const usual: ResolverSettings = { search: [], ndots: 1, timeoutMs: 2000, tries: 3 }

/** The limits of glibc. */
const limits = { domains: 32, ndots: 15, timeoutSeconds: 30, tries: 5 }

type Variables = { readonly LOCALDOMAIN?: string | undefined; readonly RES_OPTIONS?: string | undefined }

/** The last `search` or `domain` line counts. LOCALDOMAIN overrides both; RES_OPTIONS overrides `options`. */
export function parseResolverSettings(text: string, { LOCALDOMAIN, RES_OPTIONS }: Variables = {}): ResolverSettings {
  let search = usual.search
  const options: string[] = []
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/)
    if (keyword === 'search') search = values
    else if (keyword === 'domain') search = values.slice(0, 1)
    else if (keyword === 'options') options.push(...values)
  }
  if (LOCALDOMAIN !== undefined) search = LOCALDOMAIN.split(/\s+/)
  if (RES_OPTIONS !== undefined) options.push(...RES_OPTIONS.split(/\s+/))
  const find = (name: string, max: number) => {
    const text = options.findLast((option) => option.startsWith(`${name}:`))?.slice(name.length + 1)
    return text !== undefined && /^\d{1,4}$/.test(text) ? Math.min(Number(text), max) : undefined
  }
  const seconds = find('timeout', limits.timeoutSeconds)
  return {
    search: search
      .map((domain) => domain.replace(/\.$/, ''))
      .filter((domain) => domain !== '')
      .slice(0, limits.domains),
    ndots: find('ndots', limits.ndots) ?? usual.ndots,
    timeoutMs: seconds ? seconds * 1000 : usual.timeoutMs,
    tries: find('attempts', limits.tries) || usual.tries,
  }
}

/** The full names to look up, in order. A trailing dot marks a full name. */
export function listCandidates(name: string, { search, ndots }: ResolverSettings): string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)]
  const dots = name.split('.').length - 1
  const within = search.map((domain) => `${name}.${domain}`)
  return dots >= ndots ? [name, ...within] : [...within, name]
}

/**
 * True if the system resolves names by other means than files and DNS (nsswitch.conf(5)), for instance by multicast
 * DNS, which many cameras use to announce a name that ends in `.local`.
 */
export function hasOtherSources(nsswitch: string): boolean {
  const line = /^\s*hosts:(.*)$/m.exec(nsswitch)?.[1] ?? ''
  const sources = line.replace(/#.*/, '').replaceAll(/\[[^\]]*\]/g, ' ').trim().split(/\s+/) // biome-ignore format: one line
  return sources.some((source) => /^(mdns|resolve|wins)/.test(source))
}
