// Explains why there is no video at a URL and what to try.

import type { StreamDetection } from '../../../sdk/index.ts'
import { findMessage } from '../../model/offline-messages.ts'
import { Button } from '../../parts/button.tsx'
import { ErrorText } from '../../parts/error-text.tsx'
import { useTexts } from '../../texts/texts.tsx'

export type StreamProblemProps = {
  readonly problem: NonNullable<StreamDetection['problem']>
  /** Tests another URL. */
  readonly onTry: (url: string) => void
  /** Adds the camera anyway; it may be switched off. */
  readonly onAnyway: () => void
}

export function StreamProblem({ problem, onTry, onAnyway }: StreamProblemProps) {
  const { detection } = useTexts()
  const { code, detail, suggestions } = problem
  const message = findMessage({ code, sentence: detail }, detection)
  return (
    <div className="panel">
      <h2>{detection.problems[code] ?? detection.problems.failed}</h2>
      <p>{message && <ErrorText message={message} />}</p>
      {suggestions.length > 0 && (
        <>
          <p className="suggestions-title">{detection.suggestions}</p>
          <ul className="suggestions">
            {suggestions.map(({ maker, url }) => (
              <li key={url} className="row">
                <div>
                  <strong>{maker}</strong>
                  <p className="hint">{url}</p>
                </div>
                <Button look="quiet" aria-label={detection.tryOf(maker)} onClick={() => onTry(url)}>
                  {detection.try}
                </Button>
              </li>
            ))}
          </ul>
        </>
      )}
      {code !== 'address_refused' && (
        <div className="form-end">
          <Button look="quiet" onClick={onAnyway}>
            {detection.anyway}
          </Button>
        </div>
      )}
    </div>
  )
}
