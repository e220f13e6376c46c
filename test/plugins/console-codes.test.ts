import t from 'tap'
import { french, vague } from '../../plugins/console/language/problem-sentences.ts'
import { frenchRules } from '../../plugins/console/language/rule-sentences.ts'
import { problemCodes } from './support/problem-codes.ts'

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
