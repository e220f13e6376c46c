import { spawnSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { contains, lacks, matches } from '../support/matching.ts'
import { admin, seededEnvironment } from '../support/service.ts'
import { copyOfThis } from './support/checkouts.ts'
import { dataDirectory, passedOn, root, send, type ServiceProcess, startReady, stop } from './support/process.ts'

// A stranger's feature: a table, a route, a page, texts in two languages, an audit line. It is one folder; nothing else is changed. Types
// and walls are checked in new-service.test.ts, with those of other folders that a stranger adds.
const source = join(root, 'test/fixtures/features/notes')
const checkout = copyOfThis(t)
const folder = join(checkout, 'core/packages/features/notes')
const starting = {
  dataDirectory: dataDirectory(t),
  cwd: checkout,
  env: { ...await seededEnvironment(t), DISPATCH_SANDBOX_REQUIRED: 'off' }
}

/** Without the environment of this test: a run of tests within one would report to the one around it. */
const run = (...args: string[]): { status: number | null, said: string } => {
  const env = { ...passedOn(checkout), PATH: process.env['PATH'], HOME: process.env['HOME'] }
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: checkout,
    env,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024
  })
  return { status, said: stdout + stderr }
}

/** The pages of the console for somebody who has signed in. */
async function signedIn (service: ServiceProcess): Promise<(path: string, form?: Record<string, string>) => Promise<Response>> {
  const ask = (path: string, cookie: string, form?: Record<string, string>): Promise<Response> =>
    fetch(`${service.url()}${path}`, {
      redirect: 'manual',
      headers: { cookie, 'accept-language': 'fr', origin: service.url() },
      ...form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }
    })
  const answer = await ask('/console/sign-in', '', admin)
  const cookie = answer.headers.getSetCookie().map((line) => line.split(';', 1)[0]).join('; ')
  return (path, form) => ask(path, cookie, form)
}

await t.test('a folder that is added serves its routes and pages, and keeps the walls between companies', async (t) => {
  cpSync(source, folder, { recursive: true })
  const service = await startReady(t, starting)
  const written = await send(service.url(), 'POST', '/api/v1/notes', { text: 'Call Ada' })
  t.equal(written.status, 201)
  t.equal(written.body.text, 'Call Ada')
  const document = await (await fetch(`${service.url()}/openapi.json`)).json() as {
    paths: Record<string, Record<'get' | 'post', { operationId: string }>>
  }
  const { get, post } = document.paths['/api/v1/notes'] ?? {}
  t.same([get?.operationId, post?.operationId], ['listNotes', 'createNote'])

  const page = await signedIn(service)
  t.equal((await page('/console/notes', { text: 'Rappeler Ada' })).status, 303)
  const notes = await (await page('/console/notes')).text()
  for (const text of ['Call Ada', 'Rappeler Ada', 'Écrire la note']) contains(t, notes, text)
  matches(t, notes, /<a href="\/console\/templates">[^<]*<\/a><a href="\/console\/notes" aria-current="page">Notes<\/a>/)
  const audit = await (await page('/console/audit')).text()
  for (const text of ['note.created', 'Quelqu’un a écrit une note']) contains(t, audit, text)
  const tooLong = await page('/console/notes', { text: 'x'.repeat(501) })
  t.equal(tooLong.status, 400)
  await stop(service)
})

await t.test('its tests run with those of the service, which hold it against what it says of itself', (t) => {
  const { status, said } = run('scripts/test.ts', 'core/packages/features/notes/test/notes.test.ts', 'test/hostile/features.test.ts',
    'test/hostile/isolation.test.ts', 'test/plugins/fresh-proof.test.ts')
  t.equal(status, 0, said)
  matches(t, said, /\d+ passed, 0 failed/)
  t.end()
})

await t.test('without the folder the service is as it was; when it comes back its rows are there', async (t) => {
  rmSync(folder, { recursive: true })
  const without = await startReady(t, starting)
  t.equal((await send(without.url(), 'GET', '/api/v1/notes')).status, 404)
  t.equal((await send(without.url(), 'GET', '/api/v1/credits')).status, 200)
  const page = await signedIn(without)
  lacks(t, await (await page('/console')).text(), '/console/notes')
  await stop(without)
  cpSync(source, folder, { recursive: true })
  const again = await startReady(t, starting)
  const { body } = await send(again.url(), 'GET', '/api/v1/notes')
  t.same(body.data.map(({ text }: { text: string }) => text), ['Rappeler Ada', 'Call Ada'])
  await stop(again)
})
