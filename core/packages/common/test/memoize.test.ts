import { memoizeByIdentity } from '@dispatch/common'
import t from 'tap'

void t.test('each object has its own value, made once', (t) => {
  let made = 0
  const numberOf = memoizeByIdentity((key: { name: string }) => ({ name: key.name, number: ++made }))
  const [one, other] = [{ name: 'a' }, { name: 'a' }]
  t.same(numberOf(one), { name: 'a', number: 1 })
  t.same(numberOf(other), { name: 'a', number: 2 })
  t.equal(numberOf(one), numberOf(one))
  t.equal(made, 2)
  t.end()
})
