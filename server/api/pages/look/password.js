// Lets people look at the password that they type, and tells them how strong it is. The script writes no HTML, and asks
// nobody but this server.

for (const button of document.querySelectorAll('[data-shows]')) {
  const field = document.getElementById(button.dataset.shows)
  const show = (isShown) => {
    field.type = isShown ? 'text' : 'password'
    button.setAttribute('aria-pressed', String(isShown))
  }
  button.hidden = false
  button.addEventListener('click', () => {
    show(field.type === 'password')
    field.focus()
  })
  // Browsers keep what was sent from a field of text, and suggest it to the next person.
  field.form.addEventListener('submit', () => show(false))
}

for (const line of document.querySelectorAll('[data-rates]')) {
  const field = document.getElementById(line.dataset.rates)
  const words = line.dataset.words.split('|')
  let timer
  const rate = async () => {
    const password = field.value
    const { username, email, form_token } = field.form.elements
    const body = new URLSearchParams({
      password,
      username: (username ?? email)?.value ?? '',
      form_token: form_token.value,
    })
    const answer = await fetch('/password-strength/', { method: 'POST', body }).catch(() => undefined)
    // Without an answer nothing is said: the form itself says what is wrong.
    const { strength } = answer?.ok ? await answer.json() : {}
    if (field.value !== password) return
    line.hidden = strength === undefined
    if (line.hidden) return
    line.querySelector('meter').value = strength + 1
    line.querySelector('span').textContent = words[strength]
  }
  field.addEventListener('input', () => {
    clearTimeout(timer)
    if (field.value === '') line.hidden = true
    else timer = setTimeout(rate, 300)
  })
}
