import { CaseTag, type Context, defaultOperators, type Emitter, evalToken, ForTag, type Liquid, type Operators } from 'liquidjs'
import { type Scope, spend } from './scope.ts'

/**
 * What a template asks for is counted, in steps of about 20 ns, before it is done. So the same template and data are always taken or always
 * refused, however busy the machine is. One step is a character that a filter reads; these are what else takes time.
 */
const steps = {
  /** A tag, an output, a turn of a loop, a filter. */
  action: 20,
  /** An item of a list. */
  item: 50
} as const

/** A comparison looks at so many characters in the time of a step. */
const comparedAtOnce = 32

/** Counts the work of Liquid in the budget of the document. */
export function countWork (context: Context, scope: Scope): Context {
  // Liquid measures its limits here: the sizes of what it makes, and, by the clock, each part of a template that it begins.
  context.memoryLimit.use = (size) => {
    if (size > 0) spend(scope, 'steps', size)
  }
  context.renderLimit.check = () => {
    spend(scope, 'steps', steps.action)
  }
  return context
}

/** Counts the evaluation of an expression without Liquid. */
export function countExpression (scope: Scope): void {
  spend(scope, 'steps', 2)
}

type Use = Context['memoryLimit']['use']
type Filter = Extract<Liquid['filters'][string], (...given: never[]) => unknown>

/** Filters that take as long for a large value as for a small one. */
const constant = new Set(['default', 'raw', 'size', 'first', 'last'])
/** Filters that look at each item of a list, and not inside of it. */
const listing = new Set(['map', 'concat', 'push', 'unshift', 'pop', 'shift', 'slice', 'reverse', 'compact', 'uniq', 'where', 'reject',
  'where_exp', 'reject_exp', 'group_by', 'group_by_exp', 'has', 'has_exp', 'find_index', 'find_index_exp', 'find', 'find_exp'])
/** Filters that compare each part of a value with others. */
const sorting = new Set(['sort', 'sort_natural', 'sample'])
/** Filters that look for their first argument in a text. V8 may compare all of it at each place. */
const searching = new Set(['split', 'replace', 'replace_first', 'replace_last', 'remove', 'remove_first', 'remove_last'])

/** Makes every filter of an engine count its work first. */
export function countFilters (liquid: Liquid): void {
  for (const [name, filter] of Object.entries(liquid.filters)) {
    if (typeof filter === 'function') liquid.registerFilter(name, counted(name, filter))
    else liquid.registerFilter(name, { ...filter, handler: counted(name, filter.handler) })
  }
}

function counted (name: string, filter: Filter): Filter {
  return function (value: unknown, ...rest: unknown[]): unknown {
    const { memoryLimit } = this.context
    const use: Use = (size) => {
      memoryLimit.use(size)
    }
    use(steps.action)
    if (constant.has(name)) return filter.call(this, value, ...rest)
    if (listing.has(name)) {
      use(lengthOf(value))
      // Items are compared with the argument, or it becomes one.
      const times = Array.isArray(value) && typeof rest.at(-1) === 'object' ? value.length : 1
      for (const part of rest) walk(part, (size) => use(size * times))
    } else {
      const times = sorting.has(name) ? Math.ceil(Math.log2(lengthOf(value) + 2)) : 1
      walk(value, (size) => use(size * times))
      for (const part of rest) walk(part, use)
    }
    if (searching.has(name)) use(searchSize(value, rest[0]))
    return filter.call(this, value, ...rest)
  }
}

/** The steps to look at each part of a value. */
function lengthOf (value: unknown): number {
  if (typeof value === 'string') return value.length
  return Array.isArray(value) ? value.length * steps.item : 1
}

/** The steps for a search at its worst. A value that is no text becomes one no longer than it was walked for. */
function searchSize (value: unknown, pattern: unknown): number {
  return lengthOf(value) * Math.floor(lengthOf(pattern) / comparedAtOnce)
}

/** Counts the parts of a value, however deep. A list may hold another one many times over, so that there are more than fit into memory. */
function walk (root: unknown, use: Use): void {
  const pending = [root]
  while (pending.length > 0) {
    const value = pending.pop()
    if (typeof value === 'string') use(value.length)
    else if (typeof value === 'object' && value !== null) {
      const parts: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
      use((parts.length + 1) * steps.item)
      for (const part of parts) pending.push(part)
    }
  }
}

/** Liquid's comparisons, which count their work first. */
export const countedOperators: Operators = Object.fromEntries(Object.entries(defaultOperators).map(([name, compare]) => [
  name,
  (left: unknown, right: unknown, context?: Context) => {
    // `not` has one operand, and the context after it.
    const use: Use = (size) => context?.memoryLimit.use(size)
    if (typeof left === 'string' && typeof right === 'string') {
      use(name === 'contains' ? left.length + searchSize(left, right) : Math.min(left.length, right.length) / comparedAtOnce)
    } else if (context !== undefined) {
      walk(left, use)
      walk(right, use)
    }
    return (compare as (...operands: unknown[]) => ReturnType<typeof compare>)(left, right, context)
  }
]))

/** Makes the tags count what they do besides their parts. */
export function countTags (liquid: Liquid): void {
  liquid.registerTag('for', CountedFor)
  liquid.registerTag('case', CountedCase)
}

class CountedFor extends ForTag {
  override *render (context: Context, emitter: Emitter): ReturnType<ForTag['render']> {
    // It copies the list for each of its modifiers.
    const list: unknown = yield evalToken(this.collection, context)
    context.memoryLimit.use(lengthOf(list))
    return yield* super.render(context, emitter)
  }
}

class CountedCase extends CaseTag {
  override *render (context: Context, emitter: Emitter): Generator<unknown, void> {
    const value: unknown = yield this.value.value(context, context.opts.lenientIf)
    const times = this.branches.reduce((sum, { values }) => sum + values.length, 0)
    context.memoryLimit.use(times * steps.action)
    walk(value, (size) => {
      context.memoryLimit.use(size * times / comparedAtOnce)
    })
    return yield* super.render(context, emitter)
  }
}
