import t from 'tap'
import { compileTemplate } from '../compile/compile.ts'
import { unreadFields } from '../compile/field-usage.ts'
import type { TemplateSource } from '../model/model.ts'
import { templateOf } from './support.ts'

function unused (body: TemplateSource['body'], data: unknown): string[] {
  return unreadFields(compileTemplate(templateOf(body)).uses, data)
}

void t.test('fields that the template never reads are named, at the place nearest to the root', (t) => {
  t.same(unused([{ paragraph: '{{ a.b }}{{ c | default: d.e }}' }], { a: { b: 1, x: 2 }, c: 3, d: { e: 4 }, y: { z: 5 } }), ['/a/x', '/y'])
  t.end()
})

void t.test('a value that is shown whole, or looped over in text, is read with all that it has', (t) => {
  t.same(unused([{ paragraph: '{% for l in lines %}{{ l.a }}{% endfor %}' }], { lines: [{ a: 1, b: 2 }] }), [])
  t.end()
})

void t.test('of a list, the first item with the field is named, once', (t) => {
  t.same(
    unused([{ table: { each: 'lines', as: 'l', columns: [{ header: 'A', value: 'l.a' }] } }], {
      lines: [{ a: 1 }, { a: 1, 'x/y': 2 }, { 'x/y': 3 }]
    }),
    ['/lines/1/x~1y']
  )
  t.end()
})

void t.test('asking for a field is not showing what it has', (t) => {
  t.same(unused([{ if: 'a', then: [{ paragraph: '{{ a.b }}' }] }, { if: 'c', then: [] }], { a: { b: 1, d: 2 }, c: 1 }), ['/a/d'])
  t.end()
})

void t.test('loops inside loops are followed', (t) => {
  const body = [{ each: 'groups', as: 'g', do: [{ each: 'g.items', as: 'i', do: [{ paragraph: '{{ i.n }}' }] }] }]
  t.same(unused(body, { groups: [{ title: 't', items: [{ n: 1, m: 2 }] }] }), ['/groups/0/title', '/groups/0/items/0/m'])
  t.end()
})
