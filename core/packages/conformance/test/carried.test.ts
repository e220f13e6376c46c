import { runConformance } from '@dispatch/conformance'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { directory } from '../../../../test/fixtures/providers/folders.ts'

// A request to a vendor for each field, each over a connection of its own (milliseconds).
t.setTimeout(300_000)

const xero = fileURLToPath(new URL('../../../../providers/community/xero', import.meta.url))

/** What the kit says of a provider whose declaration is changed. */
async function faultsOf (t: Test, from: string, to: string): Promise<string[]> {
  const folder = join(await directory(t), 'xero')
  await cp(xero, folder, { recursive: true })
  const file = join(folder, 'limits.ts')
  const text = await readFile(file, 'utf8')
  t.ok(text.includes(from))
  await writeFile(file, text.replace(from, to))
  const { cases } = await runConformance(folder, { only: ['carried'] })
  return cases.flatMap(({ status, why = '' }) => status === 'failed' ? [why] : [])
}

await t.test('a field that reaches the vendor and is not declared is named', async (t) => {
  t.same(new Set(await faultsOf(t, '\'buyerReference\',', '')), new Set([
    'A change of /data/buyerReference changes what the vendor gets, or is refused: name it in "carries".'
  ]))
})

await t.test('a field that is declared and reaches nobody is named', async (t) => {
  t.same(await faultsOf(t, '\'buyerReference\',', '\'buyerReference\', \'bankDetails/iban\','), [
    'A change of /data/bankDetails/iban changes nothing that the vendor gets: it is not carried.'
  ])
})
