// Lists the cameras in the server's network that answer to ONVIF, and the streams of each.

import { useMutation } from '@tanstack/react-query'
import type { OnvifDevice, OnvifDiscovery } from '../../../sdk/index.ts'
import { useClient } from '../../app/clients.tsx'
import { findShortMessage } from '../../model/offline-messages.ts'
import { Button } from '../../parts/button.tsx'
import { ErrorText } from '../../parts/error-text.tsx'
import { Failure } from '../../parts/failure.tsx'
import { useTexts } from '../../texts/texts.tsx'

type Device = OnvifDiscovery['devices'][number]
type Profile = OnvifDevice['profiles'][number]

export type DiscoveryProps = {
  /** The login from the form: cameras list their streams only to users they know. */
  readonly credentials: { readonly username?: string; readonly password?: string }
  /** `device`: the device that the stream belongs to, and the URL it was queried at. */
  readonly onPick: (url: string, device: { readonly name: string; readonly url: string }) => void
}

/** The server listens for a few seconds. */
const timeoutMs = 30_000

export function Discovery({ credentials, onPick }: DiscoveryProps) {
  const { discovery: texts } = useTexts()
  const client = useClient()
  const search = useMutation({ mutationFn: () => client.cameras.discover({ timeoutMs }) })
  return (
    <div className="panel">
      <h2>{texts.title}</h2>
      <p className="hint">{texts.hint}</p>
      <div role="status">
        {search.data?.devices.length === 0 && <p className="discovery-none">{texts.none}</p>}
        {search.data && search.data.devices.length > 0 && (
          <ul className="suggestions">
            {search.data.devices.map((device) => (
              <DeviceRow key={device.id} device={device} credentials={credentials} onPick={onPick} />
            ))}
          </ul>
        )}
      </div>
      {search.error && <Failure error={search.error} />}
      <div className="form-end">
        <Button look="quiet" isBusy={search.isPending} onClick={() => search.mutate()}>
          {search.isPending ? texts.searching : search.data ? texts.again : texts.search}
        </Button>
      </div>
    </div>
  )
}

function DeviceRow({ device, credentials, onPick }: DiscoveryProps & { readonly device: Device }) {
  const { discovery: texts, detection } = useTexts()
  const client = useClient()
  const read = useMutation({
    mutationFn: () => client.cameras.readDevice({ url: device.url, ...credentials }, { timeoutMs }),
  })
  const name = device.name ?? device.hardware ?? device.address
  const about = [device.hardware, device.location, device.address].filter((word) => word !== null && word !== name)
  const problem = read.data?.problem
  return (
    <li className="row">
      <div>
        <strong>{name}</strong>
        <p className="hint">{about.join(' · ')}</p>
        {read.error && <Failure error={read.error} />}
        {problem && (
          <p className="error" role="alert">
            {findShortMessage({ code: problem.code, sentence: problem.detail }, detection)}
            {/^(login|not_told)/.test(problem.code) && ` ${texts.typeLogin}`}
          </p>
        )}
      </div>
      <Button
        look="quiet"
        isBusy={read.isPending}
        aria-label={texts.streamsOf(name)}
        aria-expanded={read.data !== undefined}
        onClick={() => read.mutate()}
      >
        {texts.streams}
      </Button>
      {read.data && read.data.profiles.length > 0 && (
        <ul className="profiles">
          {read.data.profiles.map((profile) => (
            <ProfileRow
              key={profile.token}
              profile={profile}
              onPick={(url) => onPick(url, { name, url: device.url })}
            />
          ))}
        </ul>
      )}
    </li>
  )
}

type ProfileRowProps = { readonly profile: Profile; readonly onPick: (url: string) => void }

function ProfileRow({ profile, onPick }: ProfileRowProps) {
  const { discovery: texts } = useTexts()
  const { url, name, width, height, encoding, use } = profile
  const size = width !== null && height !== null && `${width} × ${height}`
  return (
    <li className="row">
      <div>
        <p>
          {name}
          {use !== null && <span className="tag">{texts.uses[use]}</span>}
        </p>
        <p className="hint">{[size, encoding].filter(Boolean).join(', ')}</p>
        {url === null && profile.url_problem !== null && (
          <p className="error">
            <ErrorText message={{ text: texts.unusable, said: profile.url_problem }} />
          </p>
        )}
      </div>
      {url !== null && (
        <Button look="quiet" aria-label={texts.lookAt(name)} onClick={() => onPick(url)}>
          {texts.look}
        </Button>
      )}
    </li>
  )
}
