// Entry point of the dashboard.

import './app/theme.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app/app.tsx'
import { SignIn } from './app/sign-in.ts'
import { applyTheme, readTheme } from './app/theme.ts'
import { readLanguage } from './texts/texts.tsx'

applyTheme(readTheme(localStorage))
const signIn = new SignIn({
  origin: location.origin,
  language: readLanguage,
  storage: sessionStorage,
  go: (url) => location.assign(url),
})
createRoot(document.querySelector('#app')!).render(
  <StrictMode>
    <App signIn={signIn} />
  </StrictMode>,
)
