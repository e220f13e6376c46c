import t, { type Test } from 'tap'
import { languages } from '../../plugins/console/language/language.ts'
import { contains, has } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { readingOf } from '../support/reading.ts'
import { runQueued } from '../support/run-queued.ts'
import { type Answer, startService } from '../support/service.ts'
import { sweepAndWork } from '../support/sweep.ts'
import { openConsole } from './support/console.ts'

const hour = 3_600_000
const headers = { 'x-api-version': '1.1.0' }
const sms = { phoneNumber: '+33612345678', message: 'Hello' }

/** A service whose process has a clock that is ahead of the database. It is a Saturday, 09:30 in London, at the database. */
async function skewed (t: Test, ahead: number) {
  let at = Date.parse('2026-03-14T09:30:00Z')
  const service = await startService(t, {
    config: { runsWorker: false },
    replacements: { renderer: quickRenderer, now: () => new Date(at + ahead) },
    time: () => new Date(at)
  })
  const { app, send } = service
  const pipeline = app.get('pipeline')
  const { company_id: companyId } = await app.get('database').owner.selectFrom('users').select('company_id')
    .where('email', '=', 'demo@example.com').executeTakeFirstOrThrow()
  const { outbox } = readingOf(service)
  return {
    service,
    outbox,
    pass: (milliseconds: number) => void (at += milliseconds),
    in: (milliseconds: number): string => new Date(at + milliseconds).toISOString(),
    text: (more: object, path = ''): Promise<Answer> => send('POST', `/api/sms${path}`, { body: { sms, ...more }, headers }),
    read: async (id: string) => (await send('GET', `/api/v1/dispatches/${id}`, { headers })).body,
    move: (id: string, body: object): Promise<Answer> => send('PUT', `/api/v1/dispatches/${id}/schedule`, { body, headers }),
    take: (dispatchId: string): Promise<void> => runQueued(pipeline, { companyId, dispatchId }),
    work: () => sweepAndWork(pipeline, app.get('pipelineParts'))
  }
}

for (const [name, ahead] of [['ahead', hour], ['behind', -hour]] as const) {
  await t.test(`a process whose clock is an hour ${name} takes, shows and sends what is scheduled by that of the database`, async (t) => {
    const { service, outbox, pass, in: later, text, read, move, take, work } = await skewed(t, ahead)
    const sendAt = later(hour / 2)
    const { status, body: { dispatchId: id } } = await text({ sendAt })
    t.equal(status, 200, 'it is no past time')
    has(t, await read(id), { status: 'queued', sendAt, nextTryAt: sendAt })
    await take(id)
    await work()
    has(t, await read(id), { status: 'queued' }, 'it is not sent early')
    const past = await text({ sendAt: later(-hour / 2) })
    has(t, past, { status: 422, body: { details: [{ path: '/sendAt', code: 'in_the_past' }] } })
    contains(t, past.body.details[0].message, later(0), 'the clock that counts is told')
    has(t, await text({ notBefore: '10:00', timeZone: 'UTC' }), { status: 200, body: { sendAt: '2026-03-14T10:00:00.000Z' } })

    const { open, follow, post, signIn } = openConsole(service)
    const cookie = await signIn()
    contains(t, (await follow('/send?template=20', cookie)).body, languages.en.sendAtClock.replace('{now}', '2026-03-14 09:30 UTC'))
    contains(t, (await open(`/dispatches/${id as string}`, cookie)).body, '2026-03-14 09:30 UTC')
    const draft = { ':template': '1', 'of': 'invoicing', ':written': 'json', 'json': '{}' }
    contains(t, (await post('/send', { ...draft, ':sendAt': '2026-03-14T10:00' }, cookie)).body, 'value="2026-03-14T10:00"')

    const { body: { dispatchId: moved } } = await text({ sendAt: later(5 * hour) })
    has(t, await move(moved, {}), { status: 200, body: { sendAt: later(0) } }, 'at once is at once')
    pass(hour / 2 + 31_000)
    await work()
    for (const one of [id, moved]) has(t, await read(one), { status: 'succeeded' })
    await take(id)
    await work()
    t.equal((await outbox()).length, 3, 'each is sent once')
  })
}

await t.test('a process whose clock is ahead sends nothing before the hours of its recipient', async (t) => {
  const { outbox, pass, text, read, take, work } = await skewed(t, 2 * hour)
  const { body: { dispatchId: id } } = await text({ notBefore: '10:45', timeZone: 'UTC' })
  has(t, await read(id), { status: 'queued', sendAt: '2026-03-14T10:45:00.000Z' })
  pass(hour)
  await take(id)
  await work()
  t.equal((await outbox()).length, 0)
  pass(hour / 2)
  await work()
  has(t, await read(id), { status: 'succeeded' })
})
