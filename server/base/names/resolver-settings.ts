// What resolv.conf(5) and its variables say of how names are looked up. Which name servers there are is read by the resolver itself.

export type ResolverSettings = {
  /** Domains that names are tried in. */
  readonly search: readonly string[]
  /** Names with fewer dots are tried in the search domains before they are taken as they are. */
  readonly ndots: number
  /** How long one server is waited for at first, and how often all are asked. */
  readonly timeoutMs: number
  readonly tries: number
}

/** Shorter than the usual 5 s: whoever asks has ten seconds for all servers and search domains. */
const usual: ResolverSettings = { search: [], ndots: 1, timeoutMs: 2000, tries: 3 }

/** As glibc has them. */
const limits = { domains: 32, ndots: 15, timeoutSeconds: 30, tries: 5 }

type Variables = { readonly LOCALDOMAIN?: string | undefined; readonly RES_OPTIONS?: string | undefined }

/** The last `search` or `domain` counts; LOCALDOMAIN goes before them, RES_OPTIONS behind `options`. */
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

/** The full names to ask for, in order. A dot at the end says that a name is full. */
export function listCandidates(name: string, { search, ndots }: ResolverSettings): string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)]
  const dots = name.split('.').length - 1
  const within = search.map((domain) => `${name}.${domain}`)
  return dots >= ndots ? [name, ...within] : [...within, name]
}

/**
 * Whether the system looks names up in more places than files and name servers (nsswitch.conf(5)), for instance by multicast, where
 * many cameras tell a name that ends in `.local`.
 */
export function hasOtherSources(nsswitch: string): boolean {
  const line = /^\s*hosts:(.*)$/m.exec(nsswitch)?.[1] ?? ''
  const sources = line.replace(/#.*/, '').replaceAll(/\[[^\]]*\]/g, ' ').trim().split(/\s+/) // biome-ignore format: one line
  return sources.some((source) => /^(mdns|resolve|wins)/.test(source))
}
