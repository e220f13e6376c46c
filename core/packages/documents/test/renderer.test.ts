import t, { type Test } from 'tap'
import { has } from '../../../../test/support/matching.ts'
import type { Format } from '../formats/file-formats.ts'
import { RenderError } from '../model/errors.ts'
import type { TemplateSource } from '../model/model.ts'
import { templatePoster, unpacked } from '../threads/posted-template.ts'
import { createRenderer, type Customer, type Rendered, RendererBusy, type RendererOptions, type RenderJob } from '../threads/renderer.ts'
import { templateOf, wordsOf } from './support.ts'

const ofOne = { companyId: 1, template: 'shared' } as const

/** For one company, unless another is said. */
function start (
  t: Test,
  options: RendererOptions
): { render: <F extends Format>(job: RenderJob<F>, customer?: Customer) => Promise<Rendered<F>> } {
  const renderer = createRenderer({ threads: 1, ...options })
  t.teardown(() => renderer.close())
  return { render: (job, customer = ofOne) => renderer.render(job, customer) }
}

function job (digest: string, body: TemplateSource['body'], data: unknown = {}): RenderJob<'pdf'> {
  return {
    template: { id: 1, version: 1, digest, source: templateOf(body, { title: 'T {{ n | default: 0 }}' }) },
    data,
    format: 'pdf',
    now: '2026-03-14T09:30:00.000Z'
  }
}

/** Keeps a thread busy for longer than the limits of these tests, with fewer steps than a document may take. */
const endless = Array.from({ length: 900 },
  (_, index) => ({ paragraph: `{% for a in (1..1000) %}{% for b in (1..3) %}{% endfor %}{% endfor %}${String(index)}` }))

/** The error with which a promise is rejected. */
async function rejection (promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(() => undefined, (error: unknown) => error)
}

void t.test('documents are made in a thread, and come with their facts', async (t) => {
  const renderer = start(t, {})
  const rendered = await renderer.render(job('a', [{ paragraph: 'No. {{ n }}' }], { n: 5 }))
  has(t, rendered, { contentType: 'application/pdf', pages: 1 })
  t.equal(rendered.bytes.byteLength, rendered.bytes.buffer.byteLength, 'the bytes own their memory')
  t.equal(await wordsOf(rendered), 'No. 5')
  const again = await renderer.render(job('a', [{ paragraph: 'No. {{ n }}' }], { n: 5 }))
  t.same(again.bytes, rendered.bytes)
})

void t.test('a template is packed once, and read as it was', (t) => {
  const { template } = job('a', [{ paragraph: 'No. {{ n }}' }])
  const post = templatePoster()
  const posted = post(template)
  t.same(unpacked(posted), template.source)
  t.equal(post(structuredClone(template)).packed, posted.packed)
  t.not(post({ ...template, digest: 'b' }).packed, posted.packed)
  t.end()
})

void t.test('every format is made in a thread, and answers in its own shape', async (t) => {
  const renderer = start(t, {})
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGOQ9esEAAGAAPXyUV94AAAAAElFTkSuQmCC'
  const { template, data, now } = job('a', [{ paragraph: 'မြန် {{ n }}' }, { image: { value: 'logo' } }, { signature: { signer: 1 } }], {
    n: 5,
    logo: `data:image/png;base64,${png}`
  })
  const mail = await renderer.render({ template, data, now, format: 'html', signers: ['Ada'] })
  has(t, mail, {
    html: /<p [^>]*>မြန် 5<\/p>[^]*Ada/,
    text: `မြန် 5\n\n${'_'.repeat(40)}\nAda\n`,
    inline: [{ contentType: 'image/png' }]
  })
  t.same(Buffer.from(mail.inline[0]?.bytes ?? []), Buffer.from(png, 'base64'))
  t.same(await renderer.render({ template, data, now, format: 'text' }), { text: 'မြန် 5' })
  const latin = job('b', [{ signature: { signer: 1 } }])
  has(t, await renderer.render({ ...latin, signers: ['Ada', 'Bob'] }), {
    pages: 2,
    signatures: [{ signer: 1, page: 1 }, { signer: 2, page: 2 }]
  })
  has(t, await rejection(renderer.render({ template, data, now, format: 'pdf' })), { problems: [{ code: 'unsupported_characters' }] },
    'only the PDF depends on fonts')
})

void t.test('the limits hold for every format', async (t) => {
  const renderer = start(t, { timeLimits: { shared: 0.3, own: 0.3 } })
  has(t, await rejection(renderer.render({ ...job('endless', endless), format: 'text' })), { problems: [{ code: 'render_timeout' }] })
})

void t.test('a document of pictures that take too much is stopped, and the next one is made', async (t) => {
  const renderer = start(t, { timeLimits: { shared: 2, own: 2 } })
  const codes = Array.from({ length: 4000 }, () => ({ code: { qr: 'text' } }))
  has(t, await rejection(renderer.render(job('codes', codes, { text: 'é'.repeat(1165) }))), { name: 'RenderError' })
  t.equal(await wordsOf(await renderer.render(job('b', [{ paragraph: 'fine' }]))), 'fine')
})

void t.test('a template is compiled once for its digest', async (t) => {
  const renderer = start(t, {})
  await renderer.render(job('same', [{ paragraph: 'first' }]))
  t.equal(await wordsOf(await renderer.render(job('same', [{ paragraph: 'second' }]))), 'first')
  t.equal(await wordsOf(await renderer.render(job('other', [{ paragraph: 'second' }]))), 'second')
})

void t.test('errors of the data keep their class and their places', async (t) => {
  const error = await rejection(start(t, {}).render(job('a', [{ paragraph: '{{ a.b }}' }], { a: {} })))
  t.type(error, RenderError)
  has(t, error, { problems: [{ path: '/a/b', code: 'missing_value' }] })
})

void t.test('a document that takes too long is stopped, and the next one is made', async (t) => {
  const renderer = start(t, { timeLimits: { shared: 0.4, own: 0.2 } })
  const [error, next] = await Promise.all([
    rejection(renderer.render(job('endless', endless))),
    renderer.render(job('b', [{ paragraph: 'fine' }]))
  ])
  has(t, error, {
    name: 'RenderError',
    problems: [{ path: '', code: 'render_timeout', message: 'The document takes more than 0.4 seconds of processor time.' }]
  })
  t.equal(await wordsOf(next), 'fine')
})

void t.test('a template that a company has written has less time than a shared one', async (t) => {
  const renderer = start(t, { timeLimits: { shared: 30, own: 0.2 } })
  const own = { companyId: 1, template: 'own' } as const
  has(t, await rejection(renderer.render(job('endless', endless), own)), {
    problems: [{ code: 'render_timeout', message: /more than 0.2 seconds/ }]
  })
  t.equal(await wordsOf(await renderer.render(job('b', [{ paragraph: 'fine' }]), own)), 'fine')
})

void t.test('whoever comes waits for one document of another company, however many of its are waiting', async (t) => {
  const renderer = start(t, {})
  const made: number[] = []
  const make = async (companyId: number, body: TemplateSource['body']): Promise<void> => {
    await renderer.render(job(String(companyId), body), { companyId, template: 'own' })
    made.push(companyId)
  }
  const few = [{ paragraph: 'fine' }]
  await Promise.all([...[1, 1, 1].map((one) => make(one, endless.slice(0, 100))), make(2, few), make(3, few)])
  t.same(made, [1, 2, 3, 1, 1])
})

void t.test('where there are several threads, one company leaves one to the others', async (t) => {
  const renderer = start(t, { threads: 2, timeLimits: { shared: 30, own: 2 } })
  const made: string[] = []
  const make = async (name: string, companyId: number, body: TemplateSource['body']): Promise<void> => {
    await rejection(renderer.render(job(name, body), { companyId, template: 'own' }))
    made.push(name)
  }
  await Promise.all([make('endless', 1, endless), make('next', 1, [{ paragraph: 'fine' }]), make('of another', 2, [{ paragraph: 'fine' }])])
  t.same(made, ['of another', 'endless', 'next'])
})

void t.test('a document that takes too much memory is stopped, and the next one is made', async (t) => {
  const renderer = start(t, { memoryLimit: 96 })
  const lines = Array.from({ length: 60_000 }, (_, index) => ({ a: index }))
  const table = { table: { each: 'lines', as: 'l', columns: Array.from({ length: 10 }, () => ({ header: 'A', value: 'l.a' })) } }
  has(t, await rejection(renderer.render(job('huge', [table], { lines }))), { name: 'RenderError', problems: [{ code: 'render_memory' }] })
  t.equal(await wordsOf(await renderer.render(job('b', [{ paragraph: 'fine' }]))), 'fine')
})

void t.test('when too many wait, the next one is turned away at once', async (t) => {
  const renderer = start(t, { waiting: 2 })
  const jobs = Array.from({ length: 4 }, (_, index) => rejection(renderer.render(job('a', [{ paragraph: '{{ n }}' }], { n: index }))))
  const errors = await Promise.all(jobs)
  t.same(errors.slice(0, 3), [undefined, undefined, undefined])
  t.type(errors[3], RendererBusy)
  t.equal(await rejection(renderer.render(job('a', [], { n: 1 }))), undefined, 'later there is room again')
})

void t.test('closing finishes what has begun', async (t) => {
  const renderer = createRenderer({ threads: 1 })
  const rendered = renderer.render(job('a', [{ paragraph: 'x' }]), ofOne)
  await new Promise((resolve) => setImmediate(resolve))
  await renderer.close()
  t.equal((await rendered).pages, 1)
})
