// The foreign programs the tests talk to: real RTSP servers, players and a browser, from Debian's packages.

import { spawnSync } from 'node:child_process'

/** Each package, and a command that succeeds when it is there. */
const packages: readonly { readonly name: string; readonly probe: readonly string[] }[] = [
  { name: 'ffmpeg', probe: ['ffprobe', '-version'] },
  { name: 'mpv', probe: ['mpv', '--version'] },
  // The sandbox of the processes that decode; the tests also run the server without.
  { name: 'bubblewrap', probe: ['bwrap', '--version'] },
  { name: 'strace', probe: ['strace', '-V'] },
  { name: 'openssl', probe: ['openssl', 'version'] },
  // A library that makes a disk odd.
  { name: 'gcc', probe: ['gcc', '--version'] },
  { name: 'libc6-dev', probe: ['test', '-e', '/usr/include/stdlib.h'] },
  // Proxies.
  { name: 'nginx', probe: ['nginx', '-v'] },
  { name: 'caddy', probe: ['caddy', 'version'] },
  { name: 'haproxy', probe: ['haproxy', '-v'] },
  { name: 'curl', probe: ['curl', '--version'] },
  // Gives the server of the archive audit a clock that can be set.
  { name: 'faketime', probe: ['faketime', '--version'] },
  { name: 'chromium-headless-shell', probe: ['chromium-headless-shell', '--version'] },
  { name: 'firefox-esr', probe: ['firefox-esr', '--version'] },
  // WebKit, with a screen that nobody sees.
  { name: 'webkit2gtk-driver', probe: ['which', 'WebKitWebDriver'] },
  { name: 'xvfb', probe: ['which', 'Xvfb'] },
  { name: 'gstreamer1.0-libav', probe: ['gst-inspect-1.0', 'avdec_h264'] },
  { name: 'iproute2', probe: ['ip', '-Version'] },
  // Lines that delay and lose packets.
  { name: 'socat', probe: ['socat', '-V'] },
  { name: 'postgresql', probe: ['sh', '-c', 'ls /usr/lib/postgresql/*/bin/initdb'] },
  // An S3 store.
  { name: 'ceph-mon', probe: ['ceph-mon', '--version'] },
  { name: 'ceph-osd', probe: ['ceph-osd', '--version'] },
  { name: 'radosgw', probe: ['radosgw', '--version'] },
  // A mail server.
  { name: 'postfix', probe: ['test', '-x', '/usr/sbin/postfix'] },
  { name: 'fonts-dejavu-core', probe: ['test', '-d', '/usr/share/fonts/truetype/dejavu'] },
  { name: 'python3-requests-oauthlib', probe: ['/usr/bin/python3', '-c', 'import requests_oauthlib'] },
  { name: 'python3-gi', probe: ['/usr/bin/python3', '-c', 'import gi'] },
  {
    name: 'gir1.2-gst-rtsp-server-1.0',
    probe: ['/usr/bin/python3', '-c', "import gi; gi.require_version('GstRtspServer', '1.0')"],
  },
  { name: 'gstreamer1.0-tools', probe: ['gst-inspect-1.0', '--version'] },
  { name: 'gstreamer1.0-plugins-base', probe: ['gst-inspect-1.0', 'videotestsrc'] },
  { name: 'gstreamer1.0-plugins-good', probe: ['gst-inspect-1.0', 'rtph264pay'] },
  { name: 'gstreamer1.0-plugins-bad', probe: ['gst-inspect-1.0', 'voaacenc'] },
  { name: 'gstreamer1.0-plugins-ugly', probe: ['gst-inspect-1.0', 'x264enc'] },
]

/**
 * Installs what is missing when run by root on a system with apt; otherwise throws an error that holds the exact command. `wanted`: the
 * names of packages; all, unless given.
 */
export function ensureTestPackages(wanted?: readonly string[]): void {
  const missing = packages
    .filter(({ name }) => wanted?.includes(name) ?? true)
    .filter(({ probe }) => spawnSync(probe[0]!, probe.slice(1), { stdio: 'ignore' }).status !== 0)
  if (missing.length === 0) return
  const names = missing.map(({ name }) => name)
  const command = `apt-get update && apt-get install -y --no-install-recommends ${names.join(' ')}`
  if (process.getuid?.() !== 0)
    throw new Error(`Some system packages are missing. Please run:\n  sudo sh -c '${command}'`)
  console.error(`Installing system packages: ${names.join(' ')}`)
  const { status } = spawnSync('sh', ['-c', command], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
  if (status !== 0) throw new Error(`Installing failed. Please run by hand:\n  ${command}`)
}
