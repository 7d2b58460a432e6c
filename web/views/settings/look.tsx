// Language and colours: choices of this browser, kept in it.

import { useId, useState } from 'react'
import { keepTheme, readTheme, type Theme, themes } from '../../app/theme.ts'
import { type Language, languages, useLanguage } from '../../texts/texts.tsx'

const languageNames: Record<Language, string> = { en: 'English', de: 'Deutsch' }

export function Look() {
  const { texts, language, choose } = useLanguage()
  const [theme, setTheme] = useState(() => readTheme(localStorage))
  const id = useId()
  return (
    <div className="panel form">
      <h2>{texts.look.title}</h2>
      <div className="field">
        <label htmlFor={`${id}-language`}>{texts.look.language}</label>
        <select
          id={`${id}-language`}
          value={language}
          onChange={(event) => choose(event.currentTarget.value as Language)}
        >
          {(Object.keys(languages) as Language[]).map((each) => (
            <option key={each} value={each} lang={each}>
              {languageNames[each]}
            </option>
          ))}
        </select>
      </div>
      <div className="field">
        <label htmlFor={`${id}-theme`}>{texts.look.theme}</label>
        <select
          id={`${id}-theme`}
          value={theme}
          onChange={(event) => {
            const chosen = event.currentTarget.value as Theme
            keepTheme(localStorage, chosen)
            setTheme(chosen)
          }}
        >
          {themes.map((each) => (
            <option key={each} value={each}>
              {texts.look.themes[each]}
            </option>
          ))}
        </select>
      </div>
    </div>
  )
}
