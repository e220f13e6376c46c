import { readFile } from 'node:fs/promises'
import t from 'tap'
import { addressForms } from '../../scripts/address-forms.ts'

await t.test('the forms of addresses are those of the package that is installed', async (t) => {
  const file = new URL('../../core/packages/common/address-forms.json', import.meta.url)
  t.strictSame(JSON.parse(await readFile(file, 'utf8')), addressForms(), 'node scripts/address-forms.ts writes them again')
})
