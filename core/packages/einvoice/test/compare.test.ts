import { readFile } from 'node:fs/promises'
import t from 'tap'
import { differences, rulesIn } from '../compare.ts'
import { knownRules } from '../known-rules.ts'

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
  const french = new Map([['BR-FR-05_BT-22', 'fatal'], ['BR-FR-MV-BD_BT-3', 'fatal'], ['BR-FR-29_AFL', 'fatal']] as const)
  t.strictSame(differences(french, new Map([['BR-FR-05', 'fatal'], ['BR-FR-30', 'fatal']]), { 'BR-FR-29': 'why', 'BR-FR-30': 'why' }), [
    '+ BR-FR-MV-BD (fatal)',
    '- BR-FR-30',
    '= BR-FR-30: here, and said to be absent'
  ])
  t.end()
})

/** The rules of French platforms, 1.4.0.03, in UBL or CII. */
const french = (
  '01 02 03 04 05 06 08 09 10 11 12 13 15 16 17 18 20 21 22 23 24 25 26 27 28 29 30 31 32 BD-02 BD-13 ' +
  'BD-14 CO-03 CO-04 CO-05 CO-07 CO-08 CO-09 CO-10 CO-12 CO-14 CO-15 DEC-01 DEC-02 DEC-03 DEC-04 MV-01 ' +
  'MV-02 MV-03 MV-05 MV-06 MV-07 MV-08 MV-09 MV-10 MV-11 MV-12 MV-13 MV-14 MV-BD'
).split(' ').map((id) => `BR-FR-${id}`)

void t.test('each rule of French platforms is here, or its absence has a reason', async (t) => {
  const artefacts = JSON.parse(await readFile(new URL('../artefacts.json', import.meta.url), 'utf8')) as {
    name: string
    absent?: Record<string, string>
  }[]
  for (const syntax of ['UBL', 'CII'] as const) {
    const { absent = {} } = artefacts.find(({ name }) => name === `BR-FR, ${syntax}`) ?? {}
    const here = [...knownRules('EXTENDED_CTC_FR', syntax).keys()].filter((id) => id.startsWith('BR-FR-'))
    t.strictSame([...here, ...Object.keys(absent)].sort(), french.toSorted())
    t.ok(Object.values(absent).every((reason) => reason.length > 40))
  }
})

void t.test('each artefact has a version, and each that is compared a profile with rules', async (t) => {
  const artefacts = JSON.parse(await readFile(new URL('../artefacts.json', import.meta.url), 'utf8')) as Record<string, string>[]
  for (const { version, source, profile, syntax } of artefacts) {
    t.ok(version !== undefined && source?.startsWith('https://') === true)
    if (profile !== undefined) t.ok(knownRules(profile as 'PEPPOL', syntax as 'UBL').size > 200, profile)
  }
  t.end()
})
