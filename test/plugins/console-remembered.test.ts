import t from 'tap'
import { createRemembered } from '../../plugins/console/form/remembered.ts'

await t.test('what is made of the same is made once, the last ones are kept, and a difference anywhere counts', (t) => {
  const made: string[] = []
  const of = createRemembered<string>(2)
  const ask = (name: string, more: object = {}): string =>
    of([name, more], () => {
      made.push(name)
      return `${name}!`
    })
  t.same([ask('a'), ask('a'), ask('b')], ['a!', 'a!', 'b!'])
  t.same(made, ['a', 'b'])
  ask('a')
  ask('c')
  ask('a')
  t.same(made, ['a', 'b', 'c'], 'the one that was used last stays')
  ask('b')
  ask('b', { deep: [1] })
  ask('b', { deep: [2] })
  t.same(made, ['a', 'b', 'c', 'b', 'b', 'b'])
  t.end()
})
