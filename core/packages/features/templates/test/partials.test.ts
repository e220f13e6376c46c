import t from 'tap'
import { openConsole } from '../../../../../test/plugins/support/console.ts'
import { letter } from '../../../../../test/plugins/support/templates.ts'
import { contains, has, lacks, type Pattern } from '../../../../../test/support/matching.ts'
import { type Answer, type Login, startService } from '../../../../../test/support/service.ts'

const service = await startService(t)
const { admin, member } = await service.company('sharing')
const other = await service.company('alone')
const send = (method: string, path: string, body?: unknown, login: Login = admin): Promise<Answer> =>
  service.send(method, path, body === undefined ? {} : { body }, login)
const put = (name: string, source: string, more: object = {}, login: Login = admin): Promise<Answer> =>
  send('PUT', `/api/v1/partials/${name}`, { kind: 'partial', source, ...more }, login)
const text = (words: string): string => `blocks:\n  - paragraph: ${JSON.stringify(words)}\n`

/** A letter with these blocks after its first. */
const including = (name: string, blocks: string, more = '') =>
  letter({ source: `name: ${name}\nservice: file\nlocale: en\n${more}body:\n  - paragraph: "Dear {{ name }}"\n${blocks}` })
const terms = '  - partial: terms\n'

async function shown (id: number, more: object = {}): Promise<string> {
  const credentials = Buffer.from(`${admin.email}:${admin.password}`).toString('base64')
  const answer = await fetch(`${service.url}/api/v1/templates/${String(id)}/preview`, {
    method: 'POST',
    headers: { authorization: `Basic ${credentials}`, 'content-type': 'application/json' },
    body: JSON.stringify({ format: 'TEXT', ...more })
  })
  return answer.text()
}
const latest = async (id: number): Promise<unknown> => (await send('GET', `/api/v1/templates/${String(id)}`)).body.latestVersion

let letterId = 0

await t.test('a template includes a partial by its name, also one that includes another, with its words', async (t) => {
  t.equal((await put('terms', text('Payable soon.'), {}, member)).status, 403)
  has(t, await put('small', 'texts:\n  en: { thanks: "Thank you, {{ name }}." }\nblocks:\n  - paragraph: "{{ t.thanks }}"\n'), {
    status: 200
  })
  has(t, await put('terms', `${text('Payable soon, {{ name }}.')}  - partial: small\n`), {
    status: 200,
    body: { name: 'terms', version: 1, templates: [] }
  })
  const made = await send('POST', '/api/v1/templates', including('First', terms))
  t.equal(made.status, 201)
  letterId = made.body.id
  contains(t, await shown(letterId), 'Dear Ada')
  contains(t, await shown(letterId), 'Payable soon, Ada.')
  contains(t, await shown(letterId), 'Thank you, Ada.')
  has(t, (await send('GET', '/api/v1/partials', undefined, member)).body, { data: [{ name: 'small' }, { name: 'terms', version: 1 }] })
  t.equal((await send('GET', '/api/v1/partials/terms', undefined, other.admin)).status, 404)
  t.equal((await send('POST', '/api/v1/templates', including('Theirs', terms), other.admin)).status, 422)
})

await t.test('a change makes a new draft of what includes it; what is published stays as it was', async (t) => {
  await send('POST', `/api/v1/templates/${String(letterId)}/publish`, { version: 1 })
  t.equal((await put('terms', text('Too late.'))).status, 409, 'without the version that it is based on')
  has(t, await put('terms', text('Payable now.'), { baseVersion: 1 }), {
    status: 200,
    body: { version: 2, templates: [{ templateId: letterId, version: 2, published: false }] }
  })
  contains(t, await shown(letterId), 'Payable soon, Ada.')
  contains(t, await shown(letterId, { version: 2 }), 'Payable now.')
  has(t, (await send('GET', '/api/v1/partials/terms/templates')).body, {
    data: [{ templateId: letterId, version: 1, published: true }, { templateId: letterId, version: 2, published: false }]
  })
  has(t, (await put('terms', text('Payable today.'), { baseVersion: 2 })).body.templates, [{ version: 3 }, { version: 4 }],
    'of the version in use and of the newest')
  await send('POST', `/api/v1/templates/${String(letterId)}/publish`, { version: 4 })
  contains(t, await shown(letterId), 'Payable today.')
})

await t.test('a change that a template would not take is refused, and nothing is stored', async (t) => {
  const before = await latest(letterId)
  has(t, await put('terms', text('Of {{ nowhere }}.'), { baseVersion: 3 }), {
    status: 422,
    body: {
      details: [{ path: '/source', code: 'unknown_path', message: /"First", version 4 would be refused: In the partial "terms", at/ }]
    }
  })
  t.equal(await latest(letterId), before)
  has(t, (await send('GET', '/api/v1/partials/terms')).body, { version: 3, source: text('Payable today.') })
})

const refused: [rule: string, ask: () => Promise<Answer>, answer: Pattern][] = [
  [
    'a name that is not there',
    () => send('POST', '/api/v1/templates', including('A', '  - partial: term\n')),
    { status: 422, body: { details: [{ path: '/source', code: 'unknown_partial', line: 6, message: /did you mean "terms"/ }] } }
  ],
  [
    'a layout that is none',
    () => send('POST', '/api/v1/templates', including('A', '', 'layout: terms\n')),
    { status: 422, body: { details: [{ code: 'unknown_partial', line: 4 }] } }
  ],
  ['a partial that includes itself', () => put('loop', `${text('a')}  - partial: loop\n`), {
    status: 422,
    body: { details: [{ code: 'partial_cycle' }] }
  }],
  [
    'a circle',
    async () => {
      await put('round-a', text('a'))
      await put('round-b', `${text('b')}  - partial: round-a\n`)
      return put('round-a', `${text('a')}  - partial: round-b\n`, { baseVersion: 1 })
    },
    { status: 422, body: { details: [{ code: 'partial_cycle', message: /includes itself/ }] } }
  ],
  [
    'partials that grow with each level',
    async () => {
      await put('grow-0', text('a'))
      for (const level of [1, 2, 3]) {
        const blocks = `  - partial: grow-${String(level - 1)}\n`.repeat(30)
        const answer = await put(`grow-${String(level)}`, `blocks:\n${blocks}`)
        if (answer.status !== 200) return answer
      }
      return put('grow-4', 'blocks:\n  - partial: grow-3\n')
    },
    { status: 422, body: { details: [{ code: 'too_large', message: /at most 5000 blocks of partials/ }] } }
  ],
  ['what is no block', () => put('bad', 'blocks:\n  - paragraf: a\n'), {
    status: 422,
    body: { details: [{ path: '/source', code: 'unknown_block', line: 2, message: /did you mean "paragraph"/ }] }
  }],
  ['what is no YAML', () => put('bad', 'blocks: ['), { status: 422, body: { details: [{ path: '/source' }] } }],
  ['a text without end', () => put('bad', text('a'.repeat(60_000))), { status: 400 }],
  ['a name that no template could say', () => put('A%20b', text('a')), { status: 404 }],
  ['another kind of the same name', () => put('terms', 'footer: []\n', { kind: 'layout', baseVersion: 3 }), { status: 409 }]
]

for (const [rule, ask, answer] of refused) {
  await t.test(`${rule} is refused`, async (t) => {
    has(t, await ask(), answer)
  })
}

await t.test('a layout gives a template its page, and what it says itself goes before', async (t) => {
  const source = 'page: { orientation: landscape }\nstyle: { accent: "#7a1f3d", size: 12 }\nheader:\n  - paragraph: Head of all\n' +
    'footer:\n  - partial: terms\nbefore:\n  - heading: Northwind\nafter:\n  - paragraph: Yours {{ name }}\n'
  has(t, await put('letterhead', source, { kind: 'layout' }), { status: 200 })
  const made = await send('POST', '/api/v1/templates', including('Laid out', '', 'layout: letterhead\nfooter: [{ paragraph: Own foot }]\n'))
  t.equal(made.status, 201)
  const page = await shown(made.body.id)
  contains(t, page, /Northwind[^]*Dear Ada[^]*Yours Ada/)
  const html = await shown(made.body.id, { format: 'HTML' })
  contains(t, html, '#7a1f3d')
  contains(t, html, 'Own foot')
  lacks(t, html, 'Payable')
  const wrong = await send('POST', '/api/v1/templates', including('Wrong', '  - paragraph: "{{ nothing }}"\n', 'layout: letterhead\n'))
  has(t, wrong.body, { details: [{ code: 'unknown_path', line: 7 }] }, 'places are those of the template')
})

await t.test('a partial is stored where the name and the service of a template stand beside its text', async (t) => {
  t.equal((await put('beside', text('One.'))).status, 200)
  const { source: _, ...others } = including('Beside', '')
  const body = {
    ...others,
    name: 'Beside',
    service: 'file',
    source: 'locale: en\nbody:\n  - paragraph: "{{ name }}"\n  - partial: beside\n'
  }
  t.equal((await send('POST', '/api/v1/templates', body)).status, 201)
  has(t, await put('beside', text('Two.'), { baseVersion: 1 }), { status: 200, body: { templates: [{ name: 'Beside', version: 2 }] } })
})

await t.test('a layout without blocks is in use, too', async (t) => {
  t.equal((await put('bare', 'style: { size: 12 }\n', { kind: 'layout' })).status, 200)
  const made = await send('POST', '/api/v1/templates', including('Bare', '', 'layout: bare\n'))
  has(t, (await send('GET', '/api/v1/partials/bare/templates')).body, { data: [{ templateId: made.body.id, version: 1 }] })
  has(t, await put('bare', 'style: { size: 14 }\n', { kind: 'layout', baseVersion: 1 }), { body: { templates: [{ version: 2 }] } })
  t.equal((await send('DELETE', '/api/v1/partials/bare')).status, 409)
})

await t.test('drafts of partials are forgotten as those of people are: the last 20 are kept', async (t) => {
  t.equal((await put('often', text('0'))).status, 200)
  const made = await send('POST', '/api/v1/templates', including('Often', '  - partial: often\n'))
  for (let base = 1; base <= 21; base++) t.equal((await put('often', text(String(base)), { baseVersion: base })).status, 200)
  const { body: { data } } = await send('GET', `/api/v1/templates/${String(made.body.id)}/versions?limit=100`)
  t.strictSame(data.map(({ version }: { version: number }) => version), Array.from({ length: 20 }, (_, index) => 22 - index))
})

await t.test('of two that would include each other, stored at the same moment, one is refused', async (t) => {
  const names = ['one', 'two'] as const
  for (const name of names) t.equal((await put(`at-once-${name}`, text(name))).status, 200)
  const answers = await Promise.all(
    names.map((name, index) => put(`at-once-${name}`, `${text(name)}  - partial: at-once-${names[1 - index] ?? ''}\n`, { baseVersion: 1 }))
  )
  t.strictSame(answers.map(({ status }) => status === 200).sort(), [false, true])
})

await t.test('what is included is not removed', async (t) => {
  has(t, await send('DELETE', '/api/v1/partials/terms'), { status: 409, body: { message: /included by "First"/ } })
  has(t, await send('DELETE', '/api/v1/partials/round-a'), { status: 409, body: { message: /"round-b"/ } })
  t.equal((await send('DELETE', '/api/v1/partials/round-b')).status, 204)
  t.equal((await send('DELETE', '/api/v1/partials/round-b')).status, 404)
})

await t.test('the console adds one, keeps what was typed, shows who includes it and removes it', async (t) => {
  const { open, post, confirm, signIn } = openConsole(service)
  const cookie = await signIn(admin)
  const wrong = await post('/partials/new', { name: 'greeting', kind: 'partial', base: '', source: 'blocks:\n  - paragraf: Hello\n' },
    cookie)
  t.equal(wrong.status, 422)
  contains(t, wrong.body, 'paragraf: Hello')
  contains(t, wrong.body, 'paragraph')
  t.equal((await post('/partials/new', { name: 'greeting', kind: 'partial', base: '', source: text('Hello') }, cookie)).status, 303)
  contains(t, (await open('/partials', cookie)).body, '/console/partials/greeting')
  contains(t, (await open('/partials/terms?saved=1', cookie)).body, /It is saved\. The templates that include it.*First/s)
  contains(t, (await open('/partials/greeting?saved=1', cookie)).body, 'It is saved. No template includes it yet.')
  t.equal((await post('/partials/greeting', { kind: 'partial', base: '1', source: text('Good day') }, cookie)).status, 303)
  has(t, (await send('GET', '/api/v1/partials/greeting')).body, { version: 2 })
  t.equal((await confirm('/partials/greeting/remove', {}, cookie)).status, 303)
  t.equal((await send('GET', '/api/v1/partials/greeting')).status, 404)
})
