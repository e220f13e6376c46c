import { type Context, type Filter, type Template, toValueSync, Value } from 'liquidjs'

/**
 * Liquid accepts that the value before `default` is missing, but it requires the value after it, needed or not. Here that value is required
 * only when it is needed. If another `default` follows, it may be missing too: `a | default: b | default: ''`. The parts of an address that
 * `place` gets beside the city may be missing.
 */
export function withFallbacks<V extends Value> (value: V): V {
  for (const [index, filter] of value.filters.entries()) {
    if (filter.name === 'default') {
      filter.render = renderFallback(filter, value.filters[index + 1]?.name === 'default' ? 'another follows' : 'last')
    } else if (filter.name === 'place') {
      const render = filter.render.bind(filter)
      filter.render = (shown: unknown, context: Context) => leniently(context, () => render(shown, context))
    }
  }
  return value
}

/** Applies the same to every value in the parts of a template. */
export function withFallbacksInside (templates: readonly Template[]): void {
  for (const template of templates) {
    for (const argument of template.arguments?.() ?? []) if (argument instanceof Value) withFallbacks(argument)
    if (template.children !== undefined) withFallbacksInside(toValueSync<Template[]>(template.children(false, true)))
  }
}

function renderFallback (filter: Filter, place: 'another follows' | 'last'): Filter['render'] {
  const render = filter.render.bind(filter)
  return function* (value: unknown, context: Context) {
    const found: unknown = yield* leniently(context, () => render(value, context))
    // All values are missing: the strict evaluation names the missing one.
    return found === undefined && place === 'last' ? (yield* render(value, context)) as unknown : found
  }
}

function* leniently (context: Context, run: () => IterableIterator<unknown>): Generator<unknown, unknown> {
  const { strictVariables } = context
  context.strictVariables = false
  try {
    return (yield* run()) as unknown
  } finally {
    context.strictVariables = strictVariables
  }
}
