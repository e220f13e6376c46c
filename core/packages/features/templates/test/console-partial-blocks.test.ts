import type { Browser } from 'playwright-core'
import t from 'tap'
import { parse } from 'yaml'
import { languages as ofConsole } from '../../../../../plugins/console/language/language.ts'
import { isAccessible, launchChromium, signInAt } from '../../../../../test/plugins/support/chromium.ts'
import { openConsole } from '../../../../../test/plugins/support/console.ts'
import { letter } from '../../../../../test/plugins/support/templates.ts'
import { contains, has, lacks, matches } from '../../../../../test/support/matching.ts'
import { admin, startService } from '../../../../../test/support/service.ts'
import { wordsOf } from '../pages/words.ts'
import { type Fields, formIn, sourceIn } from './block-form.ts'

const en = wordsOf(ofConsole.en)
const service = await startService(t)
const { url, send } = service
const { open, post, signIn } = openConsole(service)
const cookie = await signIn(admin)
const browser = await launchChromium(t, { showsPdf: true })

const terms = 'texts:\n  en: { thanks: "Thank you, {{ name }}." }\nblocks:\n  # Small print\n  - paragraph: Payable within 14 days.\n' +
  '  - paragraph: "{{ t.thanks }}"\n'
const page = 'page: { size: A4 }\nheader:\n  - paragraph: Acme\nafter:\n  - paragraph: Goodbye\n'
for (const [name, kind, source] of [['terms', 'partial', terms], ['sheet', 'layout', page]] as const) {
  await send('PUT', `/api/v1/partials/${name}`, { body: { kind, source } })
}
const written = letter({
  source: 'name: Letter\nservice: file\nlocale: en\nbody:\n  - paragraph: "Dear {{ name }}"\n  - partial: terms\n'
})
const { body: { id } } = await send('POST', '/api/v1/templates', { body: written })

async function press (at: string, body: string, button: string, typed: Fields = {}): Promise<string> {
  return (await post(at, { ...formIn(body, button), ...typed }, cookie)).body as string
}

const format = { format: 'TEXT' }

await t.test('a partial is written block by block, beside a template that includes it, with its data', async (t) => {
  const at = '/partials/terms/blocks'
  const first = (await open(at, cookie)).body as string
  t.equal(sourceIn(first), terms)
  contains(t, first, `<option value="${String(id)}" selected>Letter</option>`)
  contains(t, first, en.blockPart_blocks)
  const opened = await press(at, first, 'open:/blocks/1')
  contains(t, opened, 'name (Ada)', 'the data of the template are offered')
  contains(t, opened, 'name="v:/texts/en/thanks"')
  const preview = await post(`${at}/preview`, { ...formIn(opened, ''), ...format, 'v:/texts/en/thanks': 'Thanks, {{ name }}!' }, cookie)
  t.equal(preview.status, 200)
  contains(t, preview.body, 'Dear Ada')
  contains(t, preview.body, 'Thanks, Ada!')
  const moved = await press(at, opened, 'move:/blocks/1:-1')
  t.strictSame(parse(sourceIn(moved)).blocks, [{ paragraph: '{{ t.thanks }}' }, { paragraph: 'Payable within 14 days.' }])
  const added = await press(at, first, 'insert:/blocks:2:rule')
  lacks(t, await press(at, first, 'insert:/blocks:2:partial'), 'partial: terms', 'none includes itself')
  const saved = await post(at, formIn(added, 'save'), cookie)
  t.strictSame([saved.status, saved.headers.get('location')], [303, '/console/partials/terms?saved=1'])
  has(t, (await send('GET', '/api/v1/partials/terms')).body, { version: 2, source: sourceIn(added) })
  contains(t, sourceIn(added), '# Small print')
  const late = await post(at, formIn(added, 'save'), cookie)
  t.equal(late.status, 409, 'somebody else has changed it meanwhile')
  t.equal(sourceIn(late.body as string), sourceIn(added), 'and what was written stays')
})

await t.test('what is wrong is said at its block, by the page and to the script; what the template refuses, above', async (t) => {
  const at = '/partials/terms/blocks'
  const opened = await press(at, (await open(at, cookie)).body as string, 'open:/blocks/0')
  const wrong = { 'v:/blocks/0/paragraph/text': '{{ name | nothing }}' }
  matches(t, await press(at, opened, 'check', wrong), /data-block="\/blocks\/0">(?:(?!<li class="block).)*<ul class="wrong"><li>/s)
  const live = await post(`${at}/live`, { ...formIn(opened, ''), ...wrong }, cookie)
  t.strictSame([live.status, Object.keys(JSON.parse(live.body as string).faults)], [422, ['/blocks/0']])
  const unknown = await post(`${at}/live`, { ...formIn(opened, ''), 'v:/blocks/0/paragraph/text': '{{ nowhere }}' }, cookie)
  t.strictSame([unknown.status, Object.keys(JSON.parse(unknown.body as string).faults)], [422, ['']])
  t.equal((await post(at, { ...formIn(opened, 'save'), ...wrong }, cookie)).status, 422)
})

await t.test('a layout has its parts and the form of its page, and is shown in any template, or alone', async (t) => {
  const at = '/partials/sheet/blocks'
  const first = (await open(at, cookie)).body as string
  for (const part of [en.blockPart_header, en.blockPart_before, en.blockPart_after, en.blockPart_footer]) contains(t, first, part)
  const opened = await press(at, first, 'open:/')
  const lettered = await press(at, opened, 'apply', { 'v:/page/size': 'Letter', 'v:/watermark': 'Draft' })
  t.strictSame(parse(sourceIn(lettered)), { ...parse(page), page: { size: 'Letter' }, watermark: 'Draft' })
  const shownIn = async (chosen: string): Promise<string> => {
    const { status, body } = await post(`${at}/preview`, { ...formIn(lettered, ''), ...format, shownIn: chosen }, cookie)
    t.equal(status, 200, chosen)
    return body as string
  }
  const alone = await shownIn('')
  contains(t, alone, en.partialLayoutBody)
  contains(t, alone, 'Goodbye')
  const around = await shownIn(`+${String(id)}`)
  for (const text of ['Dear Ada', 'Goodbye']) contains(t, around, text)
  contains(t, await shownIn('+999999999'), en.partialLayoutBody, 'a template that is gone is none')
})

await t.test('a new one has a name and a kind; both editors have the same text', async (t) => {
  const at = '/partials/new/blocks'
  const first = (await open(at, cookie)).body as string
  const unnamed = await post(at, formIn(first, 'save'), cookie)
  t.equal(unnamed.status, 404)
  contains(t, unnamed.body, en.assetNameWrong)
  const text = await press(at, first, 'text', { name: 'foot', kind: 'layout', source: 'footer:\n  - paragraph: Acme\n' })
  contains(t, text, 'action="/console/partials/new"')
  contains(t, text, 'formaction="/console/partials/new/blocks"')
  contains(t, text, 'value="foot"')
  const blocks = (await post(at, { name: 'foot', kind: 'layout', base: '', source: 'footer:\n  - paragraph: Acme\n' }, cookie))
    .body as string
  contains(t, blocks, 'data-block="/footer/0"')
  t.equal((await post(at, formIn(blocks, 'save'), cookie)).headers.get('location'), '/console/partials/foot?saved=1')
  has(t, (await send('GET', '/api/v1/partials/foot')).body, { kind: 'layout', version: 1 })
  const { member } = await service.company('without-admin')
  t.equal((await open(at, await signIn(member))).status, 403)
})

await t.test('a preview marks a name that cannot be one; one that is a word of YAML is shown, alone and in a template', async (t) => {
  const at = '/partials/new/blocks'
  const first = (await open(at, cookie)).body as string
  const refused = await press(at, first, 'check', { name: 'No name' })
  contains(t, refused, en.assetNameWrong)
  matches(t, refused, new RegExp(`<li>${en.name}${en.colon}`))
  lacks(t, refused, '/name</code>')
  const live = await post(`${at}/live`, { ...formIn(first, ''), name: 'No name' }, cookie)
  has(t, JSON.parse(live.body as string).faults, { '': [{ place: en.name }] })
  for (const [name, kind, source] of [['null', 'partial', 'blocks:\n  - paragraph: Bye\n'], ['true', 'layout',
    'after:\n  - paragraph: Bye\n']] as const)
  {
    for (const shownIn of ['', `+${String(id)}`]) {
      const { status, body } = await post(`${at}/preview`, { ...formIn(first, ''), ...format, name, kind, source, shownIn }, cookie)
      t.equal(status, 200, `${name} in ${shownIn}`)
      contains(t, body, 'Bye')
    }
  }
})

await t.test('each template can be chosen, and the chosen one stays, though it includes the block no longer', async (t) => {
  const at = '/partials/terms/blocks'
  const { admin: owner } = await service.company('many-templates')
  const theirs = await signIn(owner)
  const make = async (name: string, body = ''): Promise<string> =>
    String((await send('POST', '/api/v1/templates', {
      body: letter({ source: `name: ${name}\nservice: file\nlocale: en\nbody:\n  - rule: {}\n${body}` })
    }, owner)).body.id)
  await send('PUT', '/api/v1/partials/terms', { body: { kind: 'partial', source: 'blocks:\n  - rule: {}\n' } }, owner)
  const oldest = await make('Oldest')
  for (let n = 0; n < 100; n++) await make(`T${n}`)
  contains(t, (await open(at, theirs)).body, `<option value="+${oldest}">Oldest</option>`)
  await make('Includes it', '  - partial: terms\n')
  const first = (await open(at, theirs)).body as string
  lacks(t, first, 'Oldest')
  const { body } = await post(at, { ...formIn(first, 'apply'), shownIn: oldest }, theirs)
  contains(t, body, `<option value="+${oldest}" selected>Oldest</option>`)
})

await t.test('the API shows a template with a partial that is not stored, from 1.1.0 on', async (t) => {
  const partial = { name: 'terms', kind: 'partial', source: 'blocks:\n  - paragraf: Hi\n' }
  const ask = (version: string) =>
    send('POST', '/api/v1/templates/preview', { body: { ...written, partial }, headers: { 'x-api-version': version } })
  has(t, await ask('1.1.0'), { status: 422, body: { details: [{ path: '/partial/source', line: 2 }] } })
  has(t, await ask('1.0.1'), { status: 400, body: { details: [{ path: '/partial', code: 'unknown_field' }] } })
})

if (browser === undefined) t.pass('there is no Chromium on this machine', { skip: true })
else await inBrowser(browser)

async function inBrowser (chromium: Browser): Promise<void> {
  await t.test('with a script, the document beside follows, and it is accessible', async (t) => {
    const context = await chromium.newContext({ baseURL: url, locale: 'en', viewport: { width: 1280, height: 900 } })
    const shown = await context.newPage()
    await signInAt(shown, '/console/partials/terms/blocks', admin)
    await shown.locator('.live [data-state=ready]').waitFor()
    await shown.selectOption('#f-format', 'HTML')
    await shown.locator('[data-block="/blocks/0"] > .opener').click()
    await shown.fill('[name="v:/blocks/0/paragraph/text"]', 'Payable at once, {{ name }}.')
    await shown.locator('.live iframe:not(.waiting)').contentFrame().getByText('Payable at once, Ada.').waitFor()
    await isAccessible(t, shown, 'with a block open')
    await shown.fill('[name="v:/blocks/0/paragraph/text"]', '{{ nowhere }}')
    await shown.locator('[data-block=""] > .wrong', { hasText: 'nowhere' }).waitFor()
    await shown.goto('/console/partials/new/blocks')
    await shown.locator('.live [data-state=ready]').waitFor()
    await shown.locator('.live iframe:not(.waiting)').waitFor()
    await context.close()
  })
}
