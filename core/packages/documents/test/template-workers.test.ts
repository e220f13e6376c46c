import { PDFDocument } from '@cantoo/pdf-lib'
import t, { type Test } from 'tap'
import { has } from '../../../../test/support/matching.ts'
import { createTemplateWorkers, type TemplateWorkers, TemplateWorkersBusy,
  type TemplateWorkersOptions } from '../threads/template-workers.ts'
import { now, templateOf } from './support.ts'

function start (t: Test, options: TemplateWorkersOptions = {}): TemplateWorkers {
  const workers = createTemplateWorkers({ threads: 1, ...options })
  t.teardown(() => workers.close())
  return workers
}

const yaml = 'name: Letter\nservice: file\nlocale: en\nbody: [{ paragraph: "Dear {{ name }}" }]\n'
const schema = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } }
const draft = { yaml, schema, sample: { name: 'Ada' }, assets: {}, services: ['file'] }

void t.test('a draft that compiles comes back as a model, named by its content', async (t) => {
  const workers = start(t)
  const inspection = await workers.inspect(1, draft)
  has(t, inspection, { ok: true, source: { name: 'Letter', service: 'file' }, digest: /^[0-9a-f]{64}$/, warnings: [] })
  t.same(await workers.inspect(2, { ...draft, yaml: `# A comment\n${yaml}` }), inspection, 'comments change nothing')
  const other = await workers.inspect(1, { ...draft, schema: { ...schema, title: 'Letter' } })
  t.ok(inspection.ok && other.ok && inspection.digest !== other.digest)
})

void t.test('the digest names the picture, and not its name', async (t) => {
  const workers = start(t)
  const pictured = { ...draft, yaml: `${yaml}assets: { logo: "asset:logo" }\n` }
  const digest = async (sha256: string): Promise<unknown> => {
    const inspection = await workers.inspect(1, { ...pictured, assets: { logo: sha256 } })
    return inspection.ok ? inspection.digest : inspection.problems
  }
  t.not(await digest('a'), await digest('b'))
  t.equal(await digest('a'), await digest('a'))
})

const twoSeconds = {
  inspect: 2,
  inspectPartial: 2,
  check: 2,
  subject: 2,
  refuse: 2,
  render: 2,
  profiles: 2,
  read: 2,
  address: 2,
  pages: 2,
  join: 2,
  flatten: 2
}

void t.test('a job beyond its time ends in a problem, and the next one is done', async (t) => {
  const workers = start(t, { timeLimits: twoSeconds })
  const evil = {
    ...draft,
    schema: { type: 'object', properties: { name: { type: 'string', pattern: '^(a+)+$' } } },
    sample: { name: `${'a'.repeat(50)}!` }
  }
  has(t, await workers.inspect(1, evil), { ok: false, problems: [{ path: '', code: 'too_slow', message: /more than 2 seconds/ }] })
  const { schema: patterned } = evil
  const template = { digest: 'evil', schema: patterned, source: templateOf([{ paragraph: '{{ name }}' }]) }
  has(t, await workers.check(1, { template, data: evil.sample, at: '/data', format: 'pdf' }), {
    problems: [{ path: '/data', code: 'too_slow' }]
  })
  has(t, await workers.check(1, { template, data: { name: 'aa', nick: 'A' }, at: '/data', format: 'pdf' }), {
    problems: [],
    warnings: [{ path: '/data/nick', code: 'unused_field' }]
  })
  const all = [{ id: 'a', data: evil.sample }, { id: 'b', data: { name: 'aa' } }]
  t.equal(await workers.refuse(1, { template, all, at: '/data', format: 'pdf', examples: 5 }), undefined)
})

void t.test('where PDFs take too long to join, none of them is at fault', async (t) => {
  const made = await PDFDocument.create()
  for (let page = 0; page < 500; page++) made.addPage()
  const bytes = await made.save({ useObjectStreams: false })
  const workers = start(t, { timeLimits: { ...twoSeconds, join: 0.001 } })
  t.strictSame(await workers.join(1, () => Promise.resolve([bytes, bytes])), {
    ok: false,
    problem: { code: 'too_slow', message: 'To join these PDFs takes more processor time or memory than a document does.' }
  })
})

void t.test('of several data it is said how many a template refuses, with the first problem of the first of them', async (t) => {
  const workers = start(t)
  const template = { digest: 'several', schema: draft.schema, source: templateOf([{ paragraph: '{{ name }}' }]) }
  const all = [{ id: 'a', data: { name: 1 } }, { id: 'b', data: { name: 'Ada' } }, { id: 'c', data: {} }, { id: 'd', data: {} }]
  has(t, await workers.refuse(1, { template, all, at: '/data', format: 'pdf', examples: 2 }), {
    refused: 3,
    examples: [{ id: 'a', problem: { path: '/data/name' } }, { id: 'c', problem: { path: '/data/name' } }]
  })
})

void t.test('a job beyond its memory ends in a problem, and the next one is done', async (t) => {
  const workers = start(t, { memoryLimit: 96 })
  const lines = Array.from({ length: 60_000 }, (_, index) => ({ a: index }))
  const job = {
    template: {
      id: 0,
      version: 0,
      digest: 'huge',
      source: templateOf([{
        table: { each: 'lines', as: 'l', columns: Array.from({ length: 10 }, () => ({ header: 'A', value: 'l.a' })) }
      }])
    },
    data: { lines },
    format: 'text',
    now: now.toISOString()
  } as const
  await t.rejects(workers.render(1, job), { name: 'RenderError', problems: [{ code: 'too_large', message: /96 MiB/ }] })
  has(t, await workers.inspect(1, draft), { ok: true })
})

void t.test('too many jobs are turned away at once', async (t) => {
  const workers = start(t, { waiting: 1 })
  const answers = await Promise.allSettled([1, 2, 3, 4].map((companyId) => workers.inspect(companyId, draft)))
  // Of equals the lot decides who waits.
  const refused = answers.flatMap((answer) => answer.status === 'rejected' ? [answer.reason as unknown] : [])
  t.equal(refused.length, 2)
  for (const reason of refused) t.type(reason, TemplateWorkersBusy)
})
