import { gzipSync } from 'node:zlib'
import type { Browser, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { Block } from '../../../../../core/packages/documents/model/blocks.ts'
import { editorScript } from '../../../../../plugins/console/browser/editor.ts'
import { languages as ofConsole } from '../../../../../plugins/console/language/language.ts'
import { isAccessible, launchChromium, signInAt } from '../../../../../test/plugins/support/chromium.ts'
import { openConsole, unescaped } from '../../../../../test/plugins/support/console.ts'
import { contains, lacks, matches } from '../../../../../test/support/matching.ts'
import { admin, startService } from '../../../../../test/support/service.ts'
import { blockForms } from '../pages/block-forms.ts'
import { wordsOf } from '../pages/words.ts'
import { type Fields, formIn, sourceIn } from './block-form.ts'

const languages = { en: wordsOf(ofConsole.en), fr: wordsOf(ofConsole.fr) }
const { en } = languages
const service = await startService(t)
const { url, send } = service
const { open, post, signIn } = openConsole(service)
const cookie = await signIn(admin)
const browser = await launchChromium(t, { showsPdf: true })

const source = `name: Note
service: file
locale: en
texts:
  en: { greeting: 'Dear {{ name }}' }
  fr: { greeting: 'Bonjour {{ name }}' }
body:
  # What it is about
  - heading: "Note {{ number }}"   # as it was
  - paragraph: "{{ t.greeting }}"
  - table:
      each: lines
      as: line
      columns:
        - { header: What, value: line.what, width: 3 }
  - spacer: 5
`
const schema = {
  type: 'object',
  required: ['number', 'name', 'lines'],
  properties: {
    number: { type: 'string' },
    name: { type: 'string' },
    date: { type: 'string', format: 'date' },
    lines: {
      type: 'array',
      items: { type: 'object', required: ['what'], properties: { what: { type: 'string' }, price: { type: 'number' } } }
    }
  }
}
const sample = { number: 'N-1', name: 'Ada', date: '2026-03-14', lines: [{ what: 'Tea', price: 3 }] }
const { body: { id } } = await send('POST', '/api/v1/templates', { body: { source, schema, sample } })
const at = `/templates/${String(id)}/blocks`

/** Presses a button of a page, after some fields were filled in. */
async function press (page: string, button: string, typed: Fields = {}): Promise<string> {
  return (await post(at, { ...formIn(page, button), ...typed }, cookie)).body as string
}

await t.test('the forms have each kind of blocks and each of its fields, as the language of templates has them', (t) => {
  const kinds = Block.$defs.Block.anyOf.map(({ properties }) => properties as Record<string, { properties?: Record<string, unknown> }>)
  t.strictSame(Object.keys(blockForms).sort(), kinds.map((properties) => Object.keys(properties)[0]).sort())
  const lists = ['do', 'then', 'else', 'group', 'beside', 'items', 'entries', 'columns', 'totals', 'groups']
  for (const properties of kinds) {
    const [kind = ''] = Object.keys(properties)
    const form = blockForms[kind]
    const typed = [...form?.fields ?? [], ...form?.rows?.flatMap(({ fields }) => fields) ?? []].map(({ path }) => path.split('/').at(-1))
    const inner = Object.values(properties).flatMap((part) => {
      const { anyOf = [] } = part as { anyOf?: { properties?: object }[] }
      return Object.keys(part.properties ?? anyOf.find((one) => one.properties !== undefined)?.properties ?? {})
    })
    t.strictSame(inner.filter((name) => !lists.includes(name) && !typed.includes(name)), [], kind)
  }
  t.end()
})

await t.test('every kind of block is added, opened with its form, moved, and taken away again: the text is as it was', async (t) => {
  const page = (await open(at, cookie)).body as string
  t.equal(sourceIn(page), source)
  const chooser = await press(page, 'add:/body:1')
  for (const kind of Object.keys(blockForms)) {
    contains(t, chooser, `value="insert:/body:1:${kind}"`)
    const added = await press(chooser, `insert:/body:1:${kind}`)
    t.equal(Object.keys(parse(sourceIn(added)).body[1] as object)[0], kind)
    contains(t, added, 'value="remove:/body/1"')
    const kept = await press(added, 'close')
    t.equal(sourceIn(kept), sourceIn(added), `${kind}: its form changes nothing`)
    const moved = await press(added, 'move:/body/1:1')
    contains(t, moved, /value="move:\/body\/2:1" autofocus/)
    t.equal(sourceIn(await press(await press(moved, 'move:/body/2:-1'), 'remove:/body/1')), source, kind)
  }
  const twice = await press(page, 'duplicate:/body/0')
  t.equal(twice.match(/Note \{\{ number \}\}/g)?.length, 5, 'in the source, the list and the form')
  const removed = await press(page, 'remove:/body/0')
  lacks(t, sourceIn(removed), 'What it is about')
  t.equal(sourceIn(await press(removed, 'restore')), source, 'with its comment')
})

await t.test('what is typed changes its block alone, and is saved as the text editor saves it', async (t) => {
  const heading = await press((await open(at, cookie)).body as string, 'open:/body/0')
  const typed = await press(heading, 'apply', { 'v:/body/0/heading/text': 'About "it"' })
  t.equal(sourceIn(typed), source.replace('"Note {{ number }}"', '"About \\"it\\""'))
  const levelled = await press(typed, 'apply', { 'v:/body/0/heading/level': '2' })
  t.strictSame(parse(sourceIn(levelled)).body[0], { heading: { text: 'About "it"', level: 2 } })
  const words = await press(await press(typed, 'open:/body/1'), 'apply', { 'v:/texts/fr/greeting': 'Salut' })
  t.equal(parse(sourceIn(words)).texts.fr.greeting, 'Salut', 'the words that a block shows')
  const table = await press(await press(words, 'open:/body/2'), 'row:/body/2/table/columns')
  const filled = await press(table, 'apply', {
    'v:/body/2/table/columns/1/header': 'Price',
    'v:/body/2/table/columns/1/value': 'line.price',
    'v:/body/2/table/columns/1/type': 'number'
  })
  t.strictSame(parse(sourceIn(filled)).body[2].table.columns[1], { header: 'Price', text: '', value: 'line.price', type: 'number' })
  const onlyValue = await press(filled, 'move:/body/2/table/columns/1:-1')
  t.equal(parse(sourceIn(onlyValue)).body[2].table.columns[0].header, 'Price')
  const document = await press(await press(words, 'open:/'), 'apply', { 'v:/page/size': 'Letter', 'v:/name': 'Notice' })
  t.strictSame([parse(sourceIn(document)).page, parse(sourceIn(document)).name], [{ size: 'Letter' }, 'Notice'])
  const saved = await post(at, { ...formIn(words, 'save') }, cookie)
  contains(t, saved.body, en.templateWarnings)
  t.equal((await send('GET', `/api/v1/templates/${String(id)}?version=2`)).body.source, sourceIn(words))
})

await t.test('a field of the data is put into a text, and one of a loop is offered within it', async (t) => {
  const page = (await open(at, cookie)).body as string
  const heading = await press(page, 'open:/body/0')
  contains(t, heading, 'number (N-1)')
  lacks(t, heading, '<option value="line.what">')
  const dated = unescaped(/<option value="([^"]*)">date \(2026-03-14\)/.exec(heading)?.[1] ?? '')
  const put = await press(heading, 'field', { field: dated, into: 'v:/body/0/heading/text'.slice(2) })
  matches(t, parse(sourceIn(put)).body[0].heading, /{% if date %}{{ date \| date: "long" }}{% endif %}$/)
  const table = await press(page, 'open:/body/2')
  contains(t, table, '<option value="line.price">')
  const shown = await press(table, 'field', { field: '{{ line.price | money }}', into: '/body/2/table/columns/0/value' })
  t.equal(parse(sourceIn(shown)).body[2].table.columns[0].value, 'line.price')
})

await t.test('what is wrong is said at its block, by the page and to the script', async (t) => {
  const page = await press((await open(at, cookie)).body as string, 'open:/body/0')
  const wrong = { 'v:/body/0/heading/text': '{{ nmae }}' }
  const refused = await press(page, 'check', wrong)
  matches(t, refused, /data-block="\/body\/0">(?:(?!<li class="block).)*<ul class="wrong"><li>[^<]*nmae/s)
  contains(t, refused, 'value="{{ nmae }}"')
  const live = await post(`${at}/live`, { ...formIn(page, ''), ...wrong }, cookie)
  t.strictSame([live.status, Object.keys(JSON.parse(live.body as string).faults)], [422, ['/body/0']])
  const schemaless = await post(`${at}/live`, { ...formIn(page, ''), sample: '{}' }, cookie)
  t.strictSame(Object.keys(JSON.parse(schemaless.body as string).faults), [''])
  t.equal((await post(`${at}/live`, { ...formIn(page, ''), format: 'TEXT' }, cookie)).status, 200)
})

await t.test('both editors have the same texts, and what has no form is changed in the text', async (t) => {
  const page = await press((await open(at, cookie)).body as string, 'open:/body/0')
  const text = await press(page, 'text', { 'v:/body/0/heading/text': 'Typed' })
  contains(t, text, `action="/console/templates/${String(id)}/edit"`)
  contains(t, unescaped(text), 'heading: "Typed"   # as it was')
  const odd = 'name: Odd\nservice: file\nlocale: en\nbody:\n' +
    '  - { heading: &a One, size: 3 }\n  - paragraph: *a\n  - &b { rule: {} }\n  - *b\n'
  const shown = await press(text, '', { source: odd, schema: '{}', sample: '{}' })
  contains(t, shown, `<strong>${en.blockUnknown}</strong>`)
  const opened = await press(shown, 'open:/body/3')
  contains(t, opened, en.blockUnknownHelp)
  const form = formIn(await press(shown, 'open:/body/0'), 'apply')
  const { status, body } = await post(at, { ...form, 'v:/body/0/heading/text': 'Two' }, cookie)
  t.equal(status, 422)
  contains(t, body, en.blockCannot)
  t.equal(sourceIn(body as string), odd)
  contains(t, body, en.blockTyped)
  t.equal(formIn(body as string, '')['v:/body/0/heading/text'], 'Two', 'what was typed stays')
  matches(t, body, /data-block="\/body\/0">(?:(?!<li class="block).)*<ul class="wrong"><li>[^<]*has no form/s)
  contains(t, await press(body as string, 'untyped'), `action="/console/templates/${String(id)}/edit"`)
  const previewed = await post(`${at}/preview`, { ...form, 'v:/body/0/heading/text': 'Two' }, cookie)
  t.equal(previewed.status, 422)
  contains(t, previewed.body, en.blockCannot)
  const live = await post(`${at}/live`, { ...form, 'v:/body/0/heading/text': 'Two' }, cookie)
  t.strictSame([live.status, JSON.parse(live.body as string)], [422, {
    said: en.liveRefused,
    again: false,
    faults: { '/body/0': [{ message: en.blockCannot, place: '' }] }
  }])
  const broken = await press(page, '', { source: 'body: [' })
  contains(t, broken, en.blocksNone)
  t.equal(sourceIn(broken), 'body: [')
})

await t.test('a text of more than 40,000 characters is edited as text', async (t) => {
  const lines = (length: number): string => source + `  - paragraph: "${'x'.repeat(length - source.length - 18)}"\n`
  for (const [length, isEdited] of [[40_000, true], [40_001, false]] as const) {
    const written = lines(length)
    t.equal(written.length, length)
    const page = await press((await open(at, cookie)).body as string, '', { source: written })
    t.equal(page.includes(en.blocksNone), !isEdited, String(length))
    t.equal(sourceIn(page), written)
  }
})

await t.test('one step changes up to 50 fields', async (t) => {
  const columns = Array.from({ length: 51 }, (_, index) => `        - { header: H${String(index)}, value: line.what }\n`).join('')
  const wide = 'name: Wide\nservice: file\nlocale: en\nbody:\n  - table:\n      each: lines\n      as: line\n      columns:\n' + columns
  const page = await press((await open(at, cookie)).body as string, '', { source: wide, open: '/body/0' })
  const changes = (count: number): Fields =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`v:/body/0/table/columns/${String(index)}/header`, 'New']))
  const form = formIn(page, 'apply')
  const refused = await post(at, { ...form, ...changes(51) }, cookie)
  t.equal(refused.status, 422)
  contains(t, refused.body, en.blockTooMany.replace('{max}', '50'))
  t.equal(sourceIn(refused.body as string), wide)
  t.equal(formIn(refused.body as string, '')['v:/body/0/table/columns/50/header'], 'New')
  t.equal((await post(`${at}/live`, { ...form, ...changes(51) }, cookie)).status, 422)
  const done = await post(at, { ...form, ...changes(50) }, cookie)
  t.equal(sourceIn(done.body as string).match(/header: New/g)?.length, 50)
})

await t.test('shared templates are copied into blocks, each within 100 KB, and every block of them opens', async (t) => {
  for (const template of [1, 30]) {
    const page = (await open(`/templates/new/blocks?from=${String(template)}`, cookie)).body as string
    t.ok(Buffer.byteLength(page) < 100_000, `${String(template)}: ${String(Buffer.byteLength(page))}`)
    const blocks = [...page.matchAll(/value="open:([^"]*)"/g)].map(([, path = '']) => path)
    for (const path of [blocks[0], blocks[Math.floor(blocks.length / 2)], blocks.at(-1)]) {
      const { body } = await post('/templates/new/blocks', formIn(page, `open:${String(path)}`), cookie)
      const size = Buffer.byteLength(body as string)
      t.ok(size < 100_000, `${String(template)} ${String(path)}: ${String(size)}`)
      t.equal(sourceIn(body as string), sourceIn(page))
      const again = await post('/templates/new/blocks', formIn(body as string, 'close'), cookie)
      t.equal(sourceIn(again.body as string), sourceIn(page), `${String(template)} ${String(path)}`)
    }
  }
  const notice = (await open('/templates/new/blocks?from=20', cookie)).body as string
  const sms = (await post('/templates/new/blocks', formIn(notice, 'add:/body:0'), cookie)).body
  contains(t, sms, 'value="insert:/body:0:paragraph"')
  lacks(t, sms, 'value="insert:/body:0:table"')
})

/** What makes a page wider than its screen. */
const tooWide = `document.documentElement.scrollWidth <= innerWidth ? '' : [...document.querySelectorAll('main *')]
  .filter((one) => one.getBoundingClientRect().right > innerWidth).map((one) => one.outerHTML.slice(0, 100)).join(' ')`

if (browser === undefined) t.pass('there is no Chromium on this machine', { skip: true })
else await inBrowser(browser)

async function inBrowser (browser: Browser): Promise<void> {
  await t.test('with a script, the page beside follows, and buttons change the blocks alone', async (t) => {
    const script = await editorScript('blocks')
    t.ok(gzipSync(script.bytes).length < 5_000)
    await visit(t, { viewport: { width: 1280, height: 900 } }, async (page) => {
      const shows = (text: string): Promise<void> => page.locator('.live iframe:not(.waiting)').contentFrame().getByText(text).waitFor()
      await page.locator('.live [data-state=ready]').waitFor()
      await page.selectOption('#f-format', 'HTML')
      await shows('Note N-1')
      await page.evaluate('window.isKept = true')
      await page.keyboard.press('Tab')
      await page.locator('[data-block="/body/0"] > .opener').focus()
      await page.keyboard.press('Enter')
      await page.locator('[name="v:/body/0/heading/text"]:focus').waitFor()
      await page.keyboard.press('End')
      await page.keyboard.type(' of ')
      await page.selectOption('[data-insert] [name=field]', { label: 'name (Ada)' })
      await page.getByRole('button', { name: en.blockInsertDo }).click()
      t.equal(await page.inputValue('[name="v:/body/0/heading/text"]'), 'Note {{ number }} of {{ name }}')
      await shows('Note N-1 of Ada')
      await page.fill('[name="v:/body/0/heading/text"]', '{{ nothing }}')
      await page.locator('[data-block="/body/0"] > .wrong').waitFor()
      await page.fill('[name="v:/body/0/heading/text"]', 'Fine')
      await shows('Fine')
      t.equal(await page.locator('.blocks .wrong').count(), 0)
      await page.getByRole('button', { name: en.blockDown, exact: true }).click()
      await page.locator('button[value="move:/body/1:1"]:focus').waitFor()
      await page.keyboard.press('Enter')
      await page.locator('button[value="move:/body/2:1"]:focus').waitFor()
      t.equal(await page.evaluate('window.isKept'), true, 'the page is the same')
      t.equal(parse(await page.inputValue('[name=source]')).body[2].heading, 'Fine')
    })
  })

  for (const [locale, colorScheme, width] of [['en', 'light', 1280], ['fr', 'dark', 768], ['fr', 'light', 390]] as const) {
    await t.test(`it is accessible (${locale}, ${colorScheme}, ${String(width)} pixels wide)`, (t) =>
      visit(t, { locale, colorScheme, viewport: { width, height: 900 } }, async (page) => {
        await page.locator('.live iframe:not(.waiting)').waitFor()
        await isAccessible(t, page, 'as it opens')
        await page.locator('[data-block="/body/2"] > .opener').click()
        await page.locator('.panel').waitFor()
        await isAccessible(t, page, 'with a table open')
        t.equal(await page.evaluate(tooWide), '', 'it fits')
        await page.getByRole('button', { name: languages[locale].blockAddBelow }).click()
        await page.getByRole('group', { name: languages[locale].blockWhich }).waitFor()
        await isAccessible(t, page, 'with the kinds to choose from')
      }))
  }

  type Options = { locale?: string, colorScheme?: 'light' | 'dark', viewport?: { width: number, height: number } }

  /** Works with the page, in which no rule of the console may be broken meanwhile. */
  async function visit (t: Test, options: Options, work: (page: Page) => Promise<void>): Promise<void> {
    const context = await browser.newContext({ baseURL: url, locale: 'en', ...options })
    const page = await context.newPage()
    const faults: string[] = []
    page.on('console', (message) => {
      const isOfAnswer = message.text().startsWith('Failed to load resource')
      if (['error', 'warning'].includes(message.type()) && !isOfAnswer) faults.push(message.text())
    })
    page.on('pageerror', (error) => faults.push(error.message))
    await signInAt(page, `/console${at}?version=1`, admin)
    await work(page)
    await context.close()
    t.same(faults, [], 'no rule of the pages is broken')
  }
}
