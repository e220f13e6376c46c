import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { en } from '../../plugins/console/language/en.ts'
import { fr } from '../../plugins/console/language/fr.ts'
import { templateHelp } from '../../plugins/console/language/template-help.ts'
import { actionChoices, auditWords } from '../../plugins/console/pages/audit-words.ts'
import { findFeatures } from '../../plugins/features/find-features.ts'

const [core, templates] = ['core', 'templates'].map((name) => join(import.meta.dirname, '../..', name)) as [string, string]
/** An action is a thing and what was done to it. */
const action = /'([a-z][\w-]*\.[a-z_-]*(?:ed|made|set|found|lifted|back|drawn|said|sent))'/g
/** Those that a place puts together from the thing and what was done. */
const joined = {
  'callback-endpoint': ['created', 'changed', 'removed', 'secret-rotated', 'tested', 'resent', 'failing', 'disabled'],
  'device-login': ['granted', 'declined'],
  batch: ['paused', 'resumed', 'cancelled'],
  approval_rule: ['added', 'changed', 'removed'],
  proposal: ['sent', 'declined'],
  suppression: ['added', 'imported', 'removed', 'transactional']
}
/** Columns, events and callbacks with such names. */
const others = ['company.budget_reached', 'company.endpoint_disabled', 'connection_requests.sealed', 'invoice.received',
  'invoice.status_refused', 'invoice.status_said']

/** What the files of a folder note in the audit log. */
function notedIn (pattern: string): string[] {
  const texts = globSync(pattern, { cwd: core, exclude: ['**/packages/**/test/**'] }).map((path) => readFileSync(join(core, path), 'utf8'))
  const noted = texts.filter((text) => /[Aa]udit|action: '|\bnoted\(/.test(text))
  const whole = noted.flatMap((text) => [...text.matchAll(action)].map(([, found = '']) => found))
  const parts = Object.entries(joined).flatMap(([thing, done]) =>
    noted.some((text) => text.includes(`\`${thing}.\${`)) ? done.map((one) => `${thing}.${one}`) : []
  )
  return [...new Set([...whole, ...parts])].filter((found) => !others.includes(found)).toSorted()
}

await t.test('every action of the audit log has words in both languages, and no words are of an action that nobody notes', async (t) => {
  const features = await findFeatures()
  const reported = new Set([...Object.keys(auditWords), ...features.flatMap(({ audit = {} }) => Object.keys(audit))])
  const own = notedIn('{*.ts,{configuration,packages/accounts,pipeline,store,work}/**/*.ts}')
  const ofFeatures = features.map(({ name }) => notedIn(`packages/features/${name}/{service,store,routes}/**/*.ts`))
  t.ok(own.length > 35, 'they are found')
  t.strictSame([...reported].toSorted(), [...new Set([...own, ...ofFeatures.flat()])].toSorted())
  for (const [index, { name, audit = {} }] of features.entries()) {
    const missing = ofFeatures[index]?.filter((one) => !(one in audit) && !(one in auditWords))
    t.strictSame(missing, [], `${name} tells its own`)
  }
  for (const [code, { en, fr }] of Object.entries({
    ...auditWords,
    ...Object.assign({}, ...features.map(({ audit }) => audit)) as object
  })) {
    t.not(en, fr, code)
  }
})

await t.test('what shared templates say of their fields has a French form, and nothing else has', (t) => {
  const reported = new Set<string>()
  const read = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, member] of Object.entries(value)) {
      if (name === 'description' && typeof member === 'string') reported.add(member)
      else read(member)
    }
  }
  for (const file of globSync('*/schema.json', { cwd: templates })) {
    const { properties, $defs } = JSON.parse(readFileSync(join(templates, file), 'utf8')) as Record<string, unknown>
    read([properties, $defs])
  }
  t.same(Object.keys(templateHelp['fr'] ?? {}).toSorted(), [...reported].toSorted())
  t.end()
})

await t.test('each cause of a failure has a short form for the timeline', (t) => {
  const named = (kind: string): string[] => Object.keys(en).filter((key) => key.startsWith(kind)).map((key) => key.slice(kind.length))
  t.same([...named('cause_'), 'internal_error'].toSorted(), named('fault_').toSorted())
  t.end()
})

await t.test('the choices of a language are put in order once', (t) => {
  const audit = { 'note.created': { en: 'Aardvark noted', fr: 'Zèbre noté' } }
  t.same(actionChoices(en, { audit })[0], { value: 'note.created', label: 'Aardvark noted' })
  t.equal(actionChoices(en, { audit }), actionChoices(en, { audit }))
  t.equal(actionChoices(fr, { audit }).at(-1)?.label, 'Zèbre noté')
  t.end()
})
