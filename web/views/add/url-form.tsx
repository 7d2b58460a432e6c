// Form for the camera URL, with the result of the connection test.

import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import type { NewDetection } from '../../../sdk/index.ts'
import { useClient } from '../../app/clients.tsx'
import { useMe } from '../../app/me-query.ts'
import { findReusableLogin, findUrlToAdd } from '../../model/reusable-login.ts'
import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { useFieldProblems } from '../../parts/field-problems.tsx'
import { Form } from '../../parts/form.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { Discovery } from './discovery.tsx'
import { FoundStream } from './found-stream.tsx'
import { StreamProblem } from './stream-problem.tsx'

/** A URL that was tested. */
export type Looked = {
  readonly source: NewDetection & { readonly type?: 'h264' | 'h265' | 'mjpeg' }
  /** What the camera sends, as far as it could be measured. */
  readonly bytesPerDay: number | undefined
  readonly suggestedName: string
}

const fields = ['url', 'username', 'password'] as const
type Typed = { readonly [Name in (typeof fields)[number]]: string }

/** The server tests a URL for ten seconds, and searches a host that answers slowly for twice as long. */
const timeoutMs = 30_000

export function UrlForm({ onNext }: { readonly onNext: (looked: Looked) => void }) {
  const { addCamera: texts } = useTexts()
  const client = useClient()
  const me = useMe()
  const [typed, setTyped] = useState<Typed>({ url: '', username: '', password: '' })
  const look = useMutation({
    mutationFn: async (at: Typed) => {
      const source = readSource(at)
      return { source, answer: await client.cameras.detect(source, { timeoutMs }) }
    },
  })
  const problems = useFieldProblems(look.error)
  const field = (name: keyof Typed) => ({
    name,
    value: typed[name],
    problem: problems[name],
    onChange: (event: FormEvent<HTMLInputElement>) => {
      setTyped({ ...typed, [name]: event.currentTarget.value })
      // The result no longer matches what is typed.
      if (!look.isPending) look.reset()
    },
  })
  const [suggestedName, setSuggestedName] = useState('')
  const tryOther = (url: string, typedFor = typed.url) => {
    const other = { url, ...findReusableLogin(url, typedFor, typed) }
    setTyped(other)
    look.mutate(other)
  }
  const next = () => {
    if (!look.data) return
    const { source, answer } = look.data
    const bitRate = answer.video?.bit_rate
    onNext({
      source: {
        ...source,
        url: findUrlToAdd(source.url, answer.url),
        ...(answer.type && { type: answer.type }),
      },
      bytesPerDay: bitRate ? (bitRate / 8) * 86_400 : undefined,
      suggestedName,
    })
  }
  const answer = look.data?.answer
  const shown = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (answer) shown.current?.scrollIntoView({ block: 'nearest', behavior: 'smooth' })
  }, [answer])
  return (
    <>
      <Form
        title={texts.first}
        action={look.isPending ? texts.looking : texts.look}
        sending={{ ...look, mutate: () => look.mutate(typed) }}
        fields={fields}
        aside={
          <Link className="action action-quiet" href="/">
            {texts.cancel}
          </Link>
        }
      >
        <Field
          {...field('url')}
          label={texts.url}
          hint={me.data?.is_owner ? texts.hostHint : texts.urlHint}
          required
          inputMode="url"
          placeholder="rtsp://192.168.1.20/stream1"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
        />
        <div className="pair">
          <Field
            {...field('username')}
            label={texts.username}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
          />
          <Field {...field('password')} label={texts.password} type="password" autoComplete="new-password" />
        </div>
      </Form>
      {me.data?.is_owner && (
        <Discovery
          credentials={readCredentials(typed)}
          onPick={(url, device) => {
            setSuggestedName(device.name)
            tryOther(url, device.url)
          }}
        />
      )}
      <div className="looked" role="status" ref={shown}>
        {answer?.problem && <StreamProblem problem={answer.problem} onTry={tryOther} onAnyway={next} />}
        {answer && !answer.problem && (
          <FoundStream found={answer}>
            <Button onClick={next}>{texts.next}</Button>
          </FoundStream>
        )}
      </div>
    </>
  )
}

function readSource(typed: Typed): NewDetection {
  return { url: typed.url, ...readCredentials(typed) }
}

function readCredentials({ username, password }: Typed) {
  return { ...(username !== '' && { username }), ...(password !== '' && { password }) }
}
