import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createKeyring } from '../../../core/packages/common/keyring.ts'
import type { Log } from '../../../core/packages/common/log.ts'
import { DatabaseUnavailable } from '../../../core/packages/database/unavailable.ts'
import { openEventSpool } from '../../../core/packages/features/vendor-events/service/event-spool.ts'
import type { InboundEvent } from '../../../core/packages/features/vendor-events/store/inbound.ts'
import { draftLifetime } from '../../../core/packages/files/atomic.ts'
import { type LateOutcome, openOutcomeSpool } from '../../../core/pipeline/run/outcome-spool.ts'
import { directory } from '../../fixtures/providers/folders.ts'

/** A spool with things by their names; `drain` answers the names in the order in which they were handed over. */
type Tried = {
  folder: string
  ending: string
  lines: { level: string, facts: any }[]
  put: (name: string) => Promise<void>
  drain: (during?: (name: string) => void) => Promise<string[]>
}

function logged (): { log: Log, lines: Tried['lines'] } {
  const lines: Tried['lines'] = []
  const at = (level: string) => (facts: object): void => {
    lines.push({ level, facts })
  }
  return { lines, log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } }
}

async function outcomes (t: Test): Promise<Tried> {
  const [folder, { log, lines }] = [await directory(t), logged()]
  const spool = await openOutcomeSpool({ folder, keyring: createKeyring(Buffer.alloc(32)), log })
  const late: Omit<LateOutcome, 'stepId'> = {
    companyId: 1,
    dispatchId: 'd',
    runId: 'r',
    attempt: 1,
    actor: { kind: 'system' },
    settlement: { outcome: 'accepted', response: null }
  }
  return {
    folder,
    ending: '.json',
    lines,
    put: (name) => spool.keep({ ...late, stepId: name }),
    async drain (during) {
      const names: string[] = []
      await spool.drain(({ stepId }) => {
        names.push(stepId)
        during?.(stepId)
        return Promise.resolve('done')
      })
      return names
    }
  }
}

async function events (t: Test): Promise<Tried> {
  const [folder, { log, lines }] = [await directory(t), logged()]
  const spool = await openEventSpool({ folder, now: () => new Date(), newId: () => crypto.randomUUID(), log })
  const arrival: Omit<InboundEvent, 'inboundId'> = {
    service: 'esign',
    providerCode: 'seal-one',
    account: null,
    scope: null,
    sandbox: null,
    parked: null,
    body: Buffer.from('{}'),
    receivedAt: new Date()
  }
  return {
    folder,
    ending: '.jsonl',
    lines,
    put: (name) => spool.put({ ...arrival, inboundId: name }),
    async drain (during) {
      const names: string[] = []
      await spool.drain((arrivals) => {
        names.push(...arrivals.map(({ inboundId }) => inboundId))
        for (const { inboundId } of arrivals) during?.(inboundId)
        return Promise.resolve()
      })
      return names
    }
  }
}

for (const [what, open] of Object.entries({ outcomes, events })) {
  await t.test(`${what}: a draft that nobody can be writing any more is removed, a younger one is left alone`, async (t) => {
    const { folder, ending, lines, drain } = await open(t)
    const write = (name: string, age: number): void => {
      writeFileSync(join(folder, name), '{')
      utimesSync(join(folder, name), new Date(), new Date(Date.now() - age))
    }
    write(`0-old${ending}.part`, draftLifetime + 60_000)
    write(`0-young${ending}.part`, draftLifetime - 60_000)
    write('0-foreign.part', draftLifetime + 60_000)
    t.strictSame(await drain(), [])
    t.strictSame(readdirSync(folder).sort(), ['0-foreign.part', `0-young${ending}.part`])
    t.strictSame(lines, [{ level: 'warn', facts: { file: join(folder, `0-old${ending}.part`) } }])
  })

  await t.test(`${what}: what the disk does not hand out stays, keeps nobody back, and is told once`, async (t) => {
    const { folder, ending, lines, put, drain } = await open(t)
    mkdirSync(join(folder, `0-folder${ending}`))
    await put('a')
    t.strictSame(await drain(), ['a'])
    await put('b')
    t.strictSame(await drain(), ['b'])
    t.strictSame(readdirSync(folder), [`0-folder${ending}`])
    t.strictSame(lines.map(({ level, facts: { file, err } }) => [level, file, err.code]), [[
      'error',
      join(folder, `0-folder${ending}`),
      'EISDIR'
    ]])
  })

  await t.test(`${what}: what is whole and says nothing is set aside, wherever its reading fails, and told`, async (t) => {
    const { folder, ending, lines, put, drain } = await open(t)
    const texts = ['{"v":1', '{}', 'null', '[]']
    for (const [index, text] of texts.entries()) writeFileSync(join(folder, `0-${index}${ending}`), text)
    await put('a')
    t.strictSame(await drain(), ['a'])
    const aside = texts.map((_, index) => `0-${index}${ending}.unreadable`)
    t.strictSame(readdirSync(folder).sort(), aside)
    t.strictSame(lines.map(({ level, facts: { file } }) => [level, file]), aside.map((name) => ['error', join(folder, name)]))
    t.strictSame(await drain(), [])
  })

  await t.test(`${what}: what another process removes or sets aside meanwhile keeps nobody back`, async (t) => {
    const { folder, lines, put, drain } = await open(t)
    for (const name of ['a', 'b', 'c']) await put(name)
    const [, second = ''] = readdirSync(folder).sort()
    t.strictSame(await drain((name) => {
      if (name === 'a') rmSync(join(folder, second))
    }), ['a', 'c'])
    t.strictSame(readdirSync(folder), [])
    t.strictSame(lines, [])
  })

  await t.test(`${what}: without a database nothing is taken away, and nothing more is tried`, async (t) => {
    const { folder, put, drain } = await open(t)
    for (const name of ['a', 'b']) await put(name)
    const requested: string[] = []
    await t.rejects(drain((name) => {
      requested.push(name)
      throw new DatabaseUnavailable('away')
    }), { name: 'DatabaseUnavailable' })
    t.strictSame(requested, ['a'])
    t.equal(readdirSync(folder).length, 2)
    t.strictSame(await drain(), ['a', 'b'])
  })
}

await t.test('a file that two processes find unreadable is set aside by one of them', async (t) => {
  const [folder, { log, lines }] = [await directory(t), logged()]
  // The other process is faster, between the reading and the setting aside.
  const keyring = {
    ...createKeyring(Buffer.alloc(32)),
    open: (): never => {
      rmSync(join(folder, '0-a.json'))
      throw new Error('altered')
    }
  }
  const spool = await openOutcomeSpool({ folder, keyring, log })
  writeFileSync(join(folder, '0-a.json'), '{}')
  await spool.drain(() => Promise.resolve('done'))
  t.strictSame(lines, [])
})

await t.test('events that the database refuses stay, are told of, and keep no others back', async (t) => {
  const { folder, lines, put, drain } = await events(t)
  for (const name of ['a', 'b']) await put(name)
  t.strictSame(await drain((name) => {
    if (name === 'a') throw new Error('invalid byte sequence')
  }), ['a', 'b'])
  t.equal(readdirSync(folder).length, 1)
  t.strictSame(lines.map(({ level, facts }) => [level, facts.err.message, facts.events]), [['error', 'invalid byte sequence', ['a']]])
  t.strictSame(await drain(), ['a'])
})
