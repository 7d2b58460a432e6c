// Asks the browser for a passkey and submits the answer with its form. The script fetches nothing and writes no HTML.
// The library @simplewebauthn/browser precedes it in the same file.

const { browserSupportsWebAuthn, startAuthentication, startRegistration } = globalThis.SimpleWebAuthnBrowser

const forms = browserSupportsWebAuthn() ? document.querySelectorAll('form[data-passkey]') : []
if (forms.length > 0) {
  for (const hint of document.querySelectorAll('[data-without-passkeys]')) hint.hidden = true
}
for (const form of forms) {
  form.hidden = false
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    ask(form)
  })
}

async function ask(form) {
  const button = form.querySelector('button')
  const problem = form.querySelector('[data-problem]')
  problem.hidden = true
  button.disabled = true
  try {
    const optionsJSON = JSON.parse(form.dataset.options)
    const start = form.dataset.passkey === 'new' ? startRegistration : startAuthentication
    form.elements.namedItem('passkey').value = JSON.stringify(await start({ optionsJSON }))
    form.submit()
  } catch {
    problem.hidden = false
    button.disabled = false
  }
}
