import t from 'tap'
import { pagesOf } from '../plugins/support/console-pages.ts'
import { openConsole, unescaped } from '../plugins/support/console.ts'
import { furnished } from '../plugins/support/furnished.ts'
import { english, ownText } from '../plugins/support/own-text.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { operator, startService } from '../support/service.ts'

const service = await startService(t, { config: { keepsRequestLog: true }, replacements: { renderer: quickRenderer } })
const { open, post, signIn } = openConsole(service)
const company = await service.company('zanzibar')
const cookies = { admin: await signIn(company.admin), operator: await signIn(operator), nobody: '' }
const { made } = await furnished(service, company, { texts: ['zanzibar'], vendor: 'smtp', adapter: 'nothing' })
const french = { 'accept-language': 'fr', 'sec-fetch-site': 'same-origin' }

type Fields = [name: string, value: string][]

/** The forms of a page in which something is filled in, with the same in every field. */
function formsOf (page: string, value: string): { action: string, fields: Fields }[] {
  return [...page.matchAll(/<form method="post" action="\/console([^"]*)"[^>]*>([^]*?)<\/form>/g)].flatMap(([, action = '', form = '']) => {
    const hidden = [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)]
    const typed = [...form.matchAll(/<(?:input id="[^"]*"|textarea|select)[^>]* name="([^"]+)"(?! type="(?:checkbox|radio))/g)]
    const fields = [...hidden.map(([, name = '', held = '']): Fields[number] => [name, unescaped(held)]),
      ...typed.map(([, name = '']): Fields[number] => [name, value])]
    return typed.length === 0 ? [] : [{ action: unescaped(action), fields }]
  })
}

await t.test('a form that is refused says why in French alone, but for what a vendor says', async (t) => {
  let refusals = 0
  for (const { path, reader } of pagesOf(made)) {
    const page = String((await open(path, cookies[reader], french)).body)
    for (const value of ['', 'x\u0007', '-1', 'é'.repeat(5000)]) {
      for (const { action, fields } of formsOf(page, value)) {
        const { status, body } = await post(action, fields, cookies[reader], french)
        if (status < 400) continue
        refusals++
        const what = `${action} with ${value.slice(0, 3)}`
        t.equal(english.exec(ownText(String(body)))?.[0], undefined, what)
        const quoted = [...String(body).matchAll(/<(?:span|p|li) lang="en"[^>]*>([^<]+)/g)].map(([, said = '']) => unescaped(said))
        t.same(quoted.filter((said) => !said.startsWith('The simulator declines')), [], what)
      }
    }
  }
  t.ok(refusals > 100, `${String(refusals)} forms were refused`)
})
