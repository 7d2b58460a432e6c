// Settings in the dashboard: storage, the server and its users.

import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { markerName } from '../../server/places/place-folder.ts'
import { type FakeCamera, openFakeCamera } from '../fake-camera/fake-camera.ts'
import { codeAt, readSecret } from '../page-second-factors.ts'
import { PageVisitor } from '../page-visitor.ts'
import { eventually, openServerHere } from '../server-under-test.ts'
import { openSmtpServer, type TestSmtpServer } from '../smtp-server.ts'
import { checkAccessible, type DashboardScene, openDashboard, shoot, tabTo } from './dashboard-scene.ts'

const una = { email: 'una@example.com', password: 'a heron in the reeds' }

let mailServer: TestSmtpServer
let scene: DashboardScene
let source: FakeCamera
let page: Page

before(async () => {
  source = await openFakeCamera({ streams: [{ name: 'yard', width: 320, height: 180, gopFrames: 10 }] })
  mailServer = await openSmtpServer()
  scene = await openDashboard(() => openServerHere('--smtp-url', mailServer.url))
  const add = async (name: string, url: string, retention?: string) => {
    const body = { name, url }
    const { id } = (await scene.server.request<{ id: number }>('/v1/cameras/', { method: 'POST', body })).json
    if (retention)
      await scene.server.request(`/v1/cameras/${id}/recording/`, {
        method: 'POST',
        body: { retention, max_bytes: 2e9 },
      })
  }
  await add('Yard', source.url('yard'), 'P30D')
  await add('Attic', 'rtsp://127.0.0.1:9/attic')
  page = await scene.openPage()
  await scene.signIn(page, '/settings/storage')
})

after(async () => {
  await scene[Symbol.asyncDispose]()
  await source[Symbol.asyncDispose]()
  await mailServer[Symbol.asyncDispose]()
})

const openPart = (name: string) =>
  page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name }).click()

test('the storage page shows usage, limit and retention per camera, and how full the disk is', async () => {
  const row = page.getByRole('listitem').filter({ hasText: 'Yard' })
  await row.getByText('kept for 30 days · at most 2 GB').waitFor()
  await page.getByRole('heading', { name: 'Server disk' }).waitFor()
  await page.getByText('reserved').waitFor()
  await shoot(page, 'settings-storage')
  await checkAccessible(page)
  const folder = join(scene.server.dataDir, 'second disk')
  await scene.server.command('place', 'add', folder)
  await rm(join(folder, markerName))
  await eventually('the second place', 10_000, async () => {
    await page.reload()
    await page.getByRole('heading', { name: 'Server disk' }).waitFor()
    return page.getByRole('heading', { name: 'By place' }).isVisible()
  })
  await page.getByText('its disk may not be mounted').waitFor()
  await shoot(page, 'settings-storage-places')
  await checkAccessible(page)
  await row.getByRole('link', { name: 'Yard' }).click()
  await page.getByRole('heading', { name: 'Yard settings' }).waitFor()
  await page.goBack()
})

test('owners see the state of the server and why cameras are offline', async () => {
  await openPart('Server')
  await page.getByText('Something needs your attention.').waitFor()
  await page.getByText('1 offline: the camera could not be reached').waitFor()
  await page.getByText('1 of 2').waitFor()
  await page.getByText('SQLite').waitFor()
  await page.getByRole('button', { name: 'Send me a test email' }).click()
  await page.getByText('The mail server has taken an email to').waitFor()
  assert.equal(mailServer.mails.length, 1)
  await shoot(page, 'settings-server')
  await checkAccessible(page)
})

test('an owner creates an account with a password and invites a person, using only the keyboard', async () => {
  await openPart('Users')
  await page.getByRole('button', { name: 'Enter your password' }).click()
  await tabTo(page, 'textbox', 'Email address')
  await page.keyboard.type(una.email)
  await tabTo(page, 'checkbox', 'Set a password instead of sending an email')
  await page.keyboard.press('Space')
  await tabTo(page, 'textbox', 'Password')
  await page.keyboard.type(una.password)
  await page.keyboard.press('Enter')
  await page.getByText(`The account for ${una.email} was created.`).waitFor()
  await page.getByLabel('Set a password').uncheck()
  await page.getByLabel('Email address').fill('ivo@example.com')
  await page.keyboard.press('Enter')
  await page.getByText('ivo@example.com was invited.').waitFor()
  await eventually('the email', 10_000, async () =>
    mailServer.mails.some(({ to, text }) => to[0] === 'ivo@example.com' && /^https:/m.test(text)),
  )
  await shoot(page, 'settings-users')
  await checkAccessible(page)
})

test('an owner removes the second factor of a user who lost it', async () => {
  const visitor = new PageVisitor(scene.server)
  await visitor.signIn(una.email, una.password)
  await visitor.open('/account/second-factor/app/')
  await visitor.submit({ code: codeAt(readSecret(visitor.shown!.text), Date.now()) })
  // The password that was entered still counts after the page was loaded again.
  await page.reload()
  await openPart('Users')
  const row = page.getByRole('listitem').filter({ hasText: una.email })
  await row.getByRole('button', { name: 'Manage' }).click()
  await row.getByRole('button', { name: 'Remove the second factor' }).click()
  await page.getByRole('dialog').getByText('Make sure that it is really them').waitFor()
  await shoot(page, 'settings-user-second-factor')
  await checkAccessible(page)
  await page.getByRole('dialog').getByRole('button', { name: 'Remove the second factor' }).click()
  await row.getByText('The second factor was removed.').waitFor()
  await row.getByRole('button', { name: 'Remove the second factor' }).waitFor({ state: 'detached' })
  await row.getByRole('button', { name: 'Manage' }).click()
})

test('users who are not owners see neither server nor users; a disabled user is signed out', async () => {
  const theirs = await scene.openPage({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' })
  await scene.signIn(theirs, '/settings/users', una)
  const parts = theirs.getByRole('navigation', { name: 'Settings' })
  await parts.getByRole('link', { name: 'Profile' }).waitFor()
  await theirs.getByRole('heading', { name: 'Your name' }).waitFor()
  assert.equal(await parts.getByRole('link', { name: /Server|Users/ }).count(), 0)
  await parts.getByRole('link', { name: 'Storage' }).click()
  await theirs.getByText('No cameras are recorded.').waitFor()
  assert.equal(await theirs.getByRole('heading', { name: 'Server disk' }).count(), 0)
  await checkAccessible(theirs)

  const row = page.getByRole('listitem').filter({ hasText: una.email })
  await row.getByRole('button', { name: 'Manage' }).click()
  await row.getByRole('button', { name: 'Disable' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
  await row.getByText('disabled', { exact: true }).waitFor()
  await theirs.goto(`${scene.server.url}/settings`)
  await theirs.waitForURL(/sign-in/)
  await row.getByRole('button', { name: 'Enable' }).click()
  await row.getByText('disabled', { exact: true }).waitFor({ state: 'detached' })
  await scene.signIn(theirs, '/settings/profile', una)

  const limit = row.getByLabel('Size limit for all their recordings in GB')
  await limit.fill('2.5')
  await limit.press('Enter')
  await row.getByText('Saved.').waitFor()
  await checkAccessible(page)
  await shoot(page, 'settings-user')
  await theirs.reload()
  await parts.getByRole('link', { name: 'Storage' }).click()
  await theirs.getByText('2.5 GB').waitFor()

  await row.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await row.waitFor({ state: 'detached' })
  await theirs.goto(`${scene.server.url}/settings`)
  await theirs.waitForURL(/sign-in/)
  await theirs.context().close()
})

test('the last owner cannot give up ownership', async () => {
  const mine = page.getByRole('listitem').filter({ hasText: 'owner@example.com' })
  await mine.getByText('you', { exact: true }).waitFor()
  assert.equal(await mine.getByRole('button').count(), 0)
  assert.equal(await mine.getByRole('checkbox').count(), 0)
})

test('the language chosen in the dashboard applies to the sign-in pages too', async () => {
  const reader = await scene.openPage({ viewport: { width: 360, height: 780 } })
  await scene.signIn(reader, '/settings/look')
  await reader.getByLabel('Language').selectOption('de')
  await reader.getByRole('navigation', { name: 'Einstellungen' }).getByRole('link', { name: 'Profil' }).click()
  await reader.getByRole('link', { name: 'Passwort ändern' }).click()
  await reader.getByLabel('Aktuelles Passwort').waitFor()
  await shoot(reader, 'change-password-phone')
  await checkAccessible(reader)
  await reader.getByRole('link', { name: 'Abbrechen' }).click()
  await reader.getByRole('link', { name: 'Abmelden' }).click()
  await reader.getByRole('button', { name: 'Abmelden' }).click()
  await reader.getByText('Sie wurden abgemeldet.').waitFor()
  // As on the next day, when only the dashboard remembers the sign-in.
  await reader.context().clearCookies()
  await reader.goto(`${scene.server.url}/events`)
  await reader.getByRole('heading', { name: 'Anmelden' }).waitFor()
  assert.equal(await reader.getAttribute('html', 'lang'), 'de')
  await reader.context().close()
})

test('managing credentials asks for the password again after the grant was revoked', async () => {
  await openPart('Access tokens')
  await page.getByLabel('Name', { exact: true }).fill('Light')
  // Revoke all grants of this account, as signing out elsewhere does.
  await scene.server.command('session', 'revoke', 'owner@example.com')
  await page.getByRole('button', { name: 'Create token' }).click()
  await eventually('the password is requested', 20_000, async () => {
    return (await page.getByRole('button', { name: 'Enter your password' }).count()) > 0 || /sign-in/.test(page.url())
  })
  assert.deepEqual(scene.complaints, [])
})
