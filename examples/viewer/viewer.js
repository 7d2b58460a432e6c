// The page: cameras live, and a recording of each from any moment on.

import { createClient, findStreamUrl, NightjarError } from 'nightjar-sdk'
import { playRecording, stopRecording } from './recording.js'
import { finishSignIn, startSignIn } from './sign-in.js'

const find = (id) => document.getElementById(id)
const show = (text) => (find('message').textContent = text)

const app = await (await fetch('/application.json')).json()
let session
let client

/** Runs what a person asked for, and says what went wrong with it. */
async function attempt(work) {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof NightjarError)) throw error
    if (error.title === 'session_ended') leave()
    show(error.detail)
  }
}

/** Before anybody is signed in: is the server there, and does this browser trust it? */
async function greet() {
  try {
    await createClient(app).me.get()
  } catch (error) {
    if (error.title === 'not_authenticated') return show(`You are not signed in. The server says: ${error.detail}`)
    if (error.title !== 'network_error') throw error
    show(
      `${app.baseUrl} cannot be reached. If its certificate is its own, open it once in this browser, and then come back.`,
    )
  }
}

async function enter() {
  client = createClient({ ...app, auth: session })
  setSignedIn(true)
  await refresh()
}

function leave() {
  session = client = undefined
  showCameras([])
  setSignedIn(false)
}

/** Replaces the cameras on the page and stops their images and recordings from loading. */
function showCameras(articles) {
  for (const image of document.querySelectorAll('article img')) image.removeAttribute('src')
  for (const video of document.querySelectorAll('article video')) stopRecording(video)
  find('cameras').replaceChildren(...articles)
}

function setSignedIn(isSignedIn) {
  find('sign-in').hidden = isSignedIn
  for (const id of ['refresh', 'sign-out']) find(id).hidden = !isSignedIn
}

async function refresh() {
  const { email } = await client.me.get()
  // Two images per second, in about the size in which they are shown.
  const view = { max_width: 640, refresh_rate: 2 }
  const articles = []
  for (const place of [client.cameras, client.sharedCameras]) {
    for await (const camera of place.listAll(view)) articles.push(createArticle(camera, place))
  }
  showCameras(articles)
  show(articles.length === 0 ? `${email} has no cameras.` : `Signed in as ${email}.`)
}

function createArticle(camera, place) {
  const article = find('camera').content.firstElementChild.cloneNode(true)
  const [title, image, form, video] = ['h2', 'img', 'form', 'video'].map((name) => article.querySelector(name))
  const owner = camera.owner ? `, shared by ${camera.owner.email}` : ''
  title.textContent = `${camera.name}${owner}${camera.status === 'offline' ? ' (offline)' : ''}`
  image.alt = `${camera.name}, live`
  image.src = findStreamUrl(camera, 'mjpeg')
  form.hidden = !camera.has_recording
  const time = form.querySelector('input')
  time.value = writeLocalTime(new Date(Date.now() - 60_000))
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    attempt(async () => {
      const { url } = await place.createStream(camera.id, { start: new Date(time.value) })
      playRecording(video, url, (text) => (form.querySelector('output').textContent = text))
    })
  })
  return article
}

/** As `datetime-local` has it. */
function writeLocalTime(date) {
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}

find('sign-in').addEventListener('click', () => attempt(() => startSignIn(app)))
find('refresh').addEventListener('click', () => attempt(refresh))
find('sign-out').addEventListener('click', () =>
  attempt(async () => {
    await session.end()
    leave()
    await greet()
  }),
)

setSignedIn(false)
await attempt(async () => {
  session = await finishSignIn(app)
  await (session ? enter() : greet())
})
