// Shows what was found at a URL: an image and the properties of the stream.

import { type ReactNode, useEffect, useState } from 'react'
import type { StreamDetection } from '../../../sdk/index.ts'
import { ErrorText } from '../../parts/error-text.tsx'
import { Facts } from '../../parts/facts.tsx'
import { useLanguage } from '../../texts/texts.tsx'

const codecNames = { h264: 'H.264', h265: 'H.265', mjpeg: 'MJPEG' } as const

export function FoundStream({ found, children }: { readonly found: StreamDetection; readonly children: ReactNode }) {
  const { texts, language } = useLanguage()
  const { detection } = texts
  const { video, audio, snapshot } = found
  const write = (value: number, digits: number) =>
    new Intl.NumberFormat(language, { maximumFractionDigits: digits }).format(value)
  const facts: [string, ReactNode][] = []
  if (video) {
    facts.push([
      detection.video,
      [video.width && `${video.width} × ${video.height}`, codecNames[video.type]].filter(Boolean).join(', '),
    ])
    if (video.frame_rate) facts.push([detection.frameRate, detection.perSecond(write(video.frame_rate, 1))])
    if (video.bit_rate) facts.push([detection.bitRate, `${write(video.bit_rate / 1e6, 1)} Mbit/s`])
  }
  facts.push([detection.audio, audio ? audio.codec.toUpperCase() : detection.noAudio])
  return (
    <div className="panel found">
      <h2>{detection.found}</h2>
      {snapshot && <Snapshot url={snapshot.url} alt={detection.snapshot} />}
      <Facts of={facts} />
      {found.audio_problem !== null && (
        <p className="hint">
          <ErrorText message={{ text: detection.audioLeftOut, said: found.audio_problem }} />
        </p>
      )}
      <div className="form-end">{children}</div>
    </div>
  )
}

/** The content security policy allows images from our origin and blob URLs, but no data URLs. */
function Snapshot({ url, alt }: { readonly url: string; readonly alt: string }) {
  const [shown, setShown] = useState<string>()
  useEffect(() => {
    const bytes = Uint8Array.from(atob(url.slice(url.indexOf(',') + 1)), (char) => char.charCodeAt(0))
    const made = URL.createObjectURL(new Blob([bytes], { type: 'image/jpeg' }))
    setShown(made)
    return () => URL.revokeObjectURL(made)
  }, [url])
  return shown ? <img className="found-image" src={shown} alt={alt} /> : null
}
