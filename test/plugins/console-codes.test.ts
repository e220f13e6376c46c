import { globSync, readFileSync } from 'node:fs'
import t from 'tap'
import { languages } from '../../plugins/console/language/language.ts'
import { french, vague } from '../../plugins/console/language/problem-sentences.ts'
import { saidOf } from '../../plugins/console/language/problems.ts'
import { frenchReasons } from '../../plugins/console/language/reason-sentences.ts'
import { frenchRules } from '../../plugins/console/language/rule-sentences.ts'
import { problemCodes } from './support/problem-codes.ts'
import { reasonSentences } from './support/reason-sentences.ts'

await t.test('each code of a problem that the API can answer has a French sentence', (t) => {
  const codes = problemCodes()
  const found = ['too_many', 'unknown_column', 'order', 'not_taken', 'unread', 'integrity_mismatch', 'required', 'no_room', 'not_completed',
    'not_sent']
  t.same(found.filter((code) => !codes.has(code)), [], 'the codes are found where they are written')
  const known = { ...french, ...frenchRules }
  t.same([...codes].filter(([code]) => !Object.hasOwn(known, code)).map(([code, files]) => `${code}: ${[...files].join(', ')}`), [])
  t.same([...vague].filter((code) => !Object.hasOwn(french, code)), [])
  const ofSeveral = ['no_invoice', 'amount_due_differs', 'no_version_before', 'too_late', 'unknown_state', 'wrong_environment']
  t.same(ofSeveral.filter((code) => !vague.has(code)), [], 'what a code means in several places is told by the API, too')
  t.end()
})

await t.test('each sentence in which the service gives a reason has a French one, with the same values', (t) => {
  const sentences = reasonSentences()
  t.ok(sentences.length > 40, 'they are found where they are written')
  t.same(sentences.filter((message) => saidOf(languages.fr, { message }).some(({ lang }) => lang !== undefined)), [])
  t.same(saidOf(languages.fr, { message: 'It answered 404 instead of 200.' }), [{ text: 'Réponse 404 au lieu de 200.' }])
  t.same(saidOf(languages.fr, { message: '2 of 3 processes do not run it: GET /api/v1/providers says why.' }), [
    { text: '2 processus sur 3 ne l’exécutent pas.' }
  ])
  const said = sentences.map((message) => saidOf(languages.fr, { message }).map(({ text }) => text).join(' '))
  t.same(said.filter((text) => /\b[a-z]+_[a-z_]+\b/.test(text)), [], 'no word of the API is left in it')
  t.same(saidOf(languages.fr, { message: 'The provider "acme" does not offer "sms"; it offers postal, esign.' }), [
    {
      text: 'Le fournisseur «\u00a0acme\u00a0» n’offre pas ce service\u00a0: SMS. Il offre\u00a0: Courrier postal, Signature électronique.'
    }
  ])
  const values = (text: string): string[] => [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).sort()
  t.same(Object.entries(frenchReasons).filter(([en, fr]) => values(en).join() !== values(fr).join()), [])
  t.end()
})

await t.test('no page marks a sentence of the service as English by itself: what has a French one is said so', (t) => {
  const root = new URL('../../', import.meta.url)
  const pages = globSync(['plugins/console/pages/*.ts', 'core/packages/features/*/pages/*.ts'], { cwd: root })
  t.ok(pages.length > 100)
  // Guides, the names that adapters give their secrets, and the rules of reports have French texts of their own.
  const own = ['plugins/console/pages/guide.ts', 'core/packages/features/marketplace/pages/rows.ts',
    'core/packages/features/e-reports/pages/rule-sentences.ts']
  t.same(pages.filter((page) => readFileSync(new URL(page, root), 'utf8').includes(' lang="en"')).sort(), own.sort())
  t.end()
})
