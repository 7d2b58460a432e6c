// Language and theme, stored in the browser.

import { useState } from 'react'
import { keepTheme, readTheme, themes } from '../../app/theme.ts'
import { Choice } from '../../parts/choice.tsx'
import { type Language, languages, useLanguage } from '../../texts/texts.tsx'

const languageNames: Record<Language, string> = { en: 'English', de: 'Deutsch' }

export function Look() {
  const { texts, language, choose } = useLanguage()
  const [theme, setTheme] = useState(() => readTheme(localStorage))
  return (
    <div className="panel form">
      <h2>{texts.look.title}</h2>
      <Choice
        label={texts.look.language}
        value={language}
        options={(Object.keys(languages) as Language[]).map((each) => ({
          value: each,
          label: languageNames[each],
          lang: each,
        }))}
        onChange={choose}
      />
      <Choice
        label={texts.look.theme}
        value={theme}
        options={themes.map((each) => ({ value: each, label: texts.look.themes[each] }))}
        onChange={(chosen) => {
          keepTheme(localStorage, chosen)
          setTheme(chosen)
        }}
      />
    </div>
  )
}
