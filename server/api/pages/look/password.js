// Lets people look at the password that they type. The script fetches nothing and writes no HTML.

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
