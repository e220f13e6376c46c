import t from 'tap'
import { contains } from '../../../../test/support/matching.ts'
import { plain } from '../../einvoice/test/support.ts'
import { compileTemplate } from '../compile/compile.ts'
import { made, templateOf } from './support.ts'

const page = compileTemplate(templateOf([{ paragraph: '{{ number }} {{ unheardOf }}' }]))

void t.test('an e-invoice that is XML alone is made without its page', async (t) => {
  for (const format of ['ubl', 'cii'] as const) {
    contains(t, new TextDecoder().decode((await made(format, page, plain)).bytes), 'F-1', format)
  }
  await t.rejects(made('factur-x', page, plain), /\/unheardOf: The template shows "unheardOf"/)
})
