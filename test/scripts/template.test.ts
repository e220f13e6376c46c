import { execFile } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { checkTemplateFolder } from '../../scripts/template/check.ts'
import { preview } from '../../scripts/template/preview.ts'
import { scaffoldTemplate } from '../../scripts/template/scaffold.ts'
import { directory } from '../fixtures/providers/folders.ts'
import { contains, has } from '../support/matching.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const templates = join(root, 'templates')
const run = promisify(execFile)

async function template (t: Test, ...given: string[]): Promise<{ code: number, stdout: string, stderr: string, cwd: string }> {
  const cwd = await directory(t)
  try {
    return {
      code: 0,
      cwd,
      ...await run(process.execPath, [join(root, 'scripts/template.ts'), ...given], { cwd, env: { ...process.env, INIT_CWD: undefined } })
    }
  } catch (error) {
    return { cwd, ...error as { code: number, stdout: string, stderr: string } }
  }
}

const formats = ['docx', 'html', 'mail.txt', 'pdf', 'sms.txt', 'xlsx']

await t.test('a new template is valid as it is, and becomes a document in every format and language', async (t) => {
  const parent = await directory(t)
  const folder = await scaffoldTemplate({ name: 'visit-report', directory: parent, taken: templates })
  t.same((await readdir(folder)).sort(), ['README.md', 'sample.fr.json', 'sample.json', 'schema.json', 'template.yaml'])
  t.same(await checkTemplateFolder(folder), { faults: [], warnings: [] })
  const out = join(await directory(t), 'made')
  const files = await preview(folder, out, new Date('2026-03-14T09:30:00.000Z'))
  t.same(files.sort(), formats.flatMap((format) => [`sample.${format}`, `sample.fr.${format}`]).sort())
  t.same((await readdir(out)).sort(), files)
  contains(t, await readFile(join(out, 'sample.fr.mail.txt'), 'utf8'), /Désignation/)
})

await t.test('every new template has a number of its own', async (t) => {
  const parent = await directory(t)
  const numberOf = async (name: string) =>
    /^id: (\d+)$/m.exec(
      await readFile(join(await scaffoldTemplate({ name, directory: parent, taken: templates }), 'template.yaml'), 'utf8')
    )?.[1]
  t.same([await numberOf('one'), await numberOf('two')], ['100', '101'])
})

await t.test('a folder that is there and a bad name are refused with a sentence', async (t) => {
  const parent = await directory(t)
  await scaffoldTemplate({ name: 'one', directory: parent, taken: templates })
  await t.rejects(scaffoldTemplate({ name: 'one', directory: parent, taken: templates }), /one is there already/)
  for (const name of ['One', '../one', '1', 'a--b', '']) {
    await t.rejects(scaffoldTemplate({ name, directory: parent, taken: templates }), /is no name of a template: lowercase letters/, name)
  }
  t.same(await readdir(parent), ['one'])
})

await t.test('a check tells mistakes by file, line and column, and what no block shows', async (t) => {
  const folder = await scaffoldTemplate({ name: 'one', directory: await directory(t), taken: templates })
  const change = async (file: string, from: string, to: string) => {
    const text = await readFile(join(folder, file), 'utf8')
    await writeFile(join(folder, file), text.replace(from, to))
  }
  await change('sample.fr.json', '"number"', '"extra": "x",\n  "number"')
  t.same(await checkTemplateFolder(folder), { faults: [], warnings: ['sample.fr.json: no block shows /extra.'] })
  await change('template.yaml', 'value: line.description', 'value: line.descriptoin')
  has(t, await checkTemplateFolder(folder), {
    faults: [/template\.yaml:\d+:\d+ The schema of the data has no "lines\.descriptoin" \(did you mean "description"\?\)\.$/]
  })
  await change('template.yaml', 'value: line.descriptoin', 'value: line.description')
  await change('sample.fr.json', '"N-1"', '7')
  has(t, await checkTemplateFolder(folder), { faults: [/sample\.fr\.json \/number Expected string/] })
})

await t.test('an e-invoice is made as Factur-X, UBL and CII besides', async (t) => {
  const files = await preview(join(templates, 'e-invoice'), await directory(t), new Date('2026-03-14T09:30:00.000Z'))
  t.same(files.filter((file) => /^sample\.(factur-x|ubl|cii)/.test(file)), ['sample.factur-x.pdf', 'sample.ubl.xml', 'sample.cii.xml'])
})

await t.test('on the console: what is made and where, what is wrong and how it is called', async (t) => {
  const made = await template(t, 'preview', 'sms-notice', '--out', 'seen')
  has(t, made, { code: 0, stdout: /^seen has sample\.pdf, .*sample\.fr\.sms\.txt\.\n$/ })
  t.equal((await readdir(join(made.cwd, 'seen'))).length, 2 * formats.length)
  has(t, await template(t, 'check', 'sms-notice', 'email-invoice'), { code: 0, stdout: '✓ sms-notice\n✓ email-invoice\n' })
  has(t, await template(t, 'preview', 'nothing'), {
    code: 2,
    stderr: /^There is no template "nothing": neither in templates\/ nor as a path[^\n]*\n$/
  })
  has(t, await template(t, 'preview', 'invoce'), { code: 2, stderr: /did you mean "invoice"/ })
  has(t, await template(t, 'new', 'Bad Name', '--in', '.'), { code: 2, stderr: /^"Bad Name" is no name of a template[^\n]*\n$/ })
  has(t, await template(t, 'send', 'invoice'), { code: 2, stderr: /npm run template preview <name>/ })
})

await t.test('without "--" npm hands on the values of the options alone', async (t) => {
  const made = await template(t, 'new', 'one', 'here')
  has(t, made, { code: 0, stdout: /^here\/one is there\. To see it: npm run template preview here\/one\n$/ })
  t.same(await readdir(join(made.cwd, 'here')), ['one'])
})
