import { readFile } from 'node:fs/promises'
import t from 'tap'
import { differences, rulesIn } from '../compare.ts'
import { knownRules } from '../rules/known.ts'

void t.test('the rules of a schematron are found with their severities, and what differs from ours is told', (t) => {
  const theirs = rulesIn(`<pattern><rule context="/a"><assert id="BR-01" flag="fatal" test="a > b">A</assert>
    <assert flag='warning' test='count("x") = 1' id='BR-02'>B</assert><!-- <assert id="BR-03" test="c"/> -->
    <assert id="BR-IG-01" test="d">D</assert></rule></pattern>`)
  t.strictSame([...theirs], [['BR-01', 'fatal'], ['BR-02', 'warning'], ['BR-IG-01', 'fatal']])
  t.strictSame(differences(theirs, new Map([['BR-02', 'fatal'], ['BR-AF-01', 'fatal'], ['BR-09', 'fatal'], ['XX-1', 'warning']])), [
    '+ BR-01 (fatal)',
    '- BR-09',
    '~ BR-02: warning, here fatal'
  ])
  t.end()
})

void t.test('each artefact has a version, and each that is compared a profile with rules', async (t) => {
  const artefacts = JSON.parse(await readFile(new URL('../artefacts.json', import.meta.url), 'utf8')) as Record<string, string>[]
  for (const { version, source, profile, syntax } of artefacts) {
    t.ok(version !== undefined && source?.startsWith('https://') === true)
    if (profile !== undefined) t.ok(knownRules(profile as 'PEPPOL', syntax as 'UBL').size > 200, profile)
  }
  t.end()
})
