import js from '@eslint/js'
import tseslint from 'typescript-eslint'

export default tseslint.config(
  {
    ignores: ['**/node_modules/**', '.tap/**', 'data/**', 'test/fixtures/clients/**', 'test/fixtures/services/**',
      'test/fixtures/formats/**']
  },
  js.configs.recommended,
  {
    rules: {
      // The formatter breaks code, but no text and no comment. What cannot be broken may be longer: addresses, regular expressions,
      // templates, and a text without a space (the bytes of a picture, an XML path).
      'max-len': ['error', {
        code: 140,
        ignoreUrls: true,
        ignoreRegExpLiterals: true,
        ignoreTemplateLiterals: true,
        ignorePattern: '\'[^\' ]{80,}\''
      }]
    }
  },
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.strictTypeChecked, ...tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // Plain data reads better as `type`; both forms are used where each fits.
      '@typescript-eslint/consistent-type-definitions': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      // `{ secret: _, ...rest }` is how an object is copied without a field.
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }]
    }
  },
  {
    files: ['**/*.mjs', '**/*.js'],
    languageOptions: { globals: { process: 'readonly', console: 'readonly', URL: 'readonly' } }
  },
  {
    files: ['core/**/*.ts', 'plugins/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: 'CallExpression[callee.property.name="normalize"][arguments.0.value=/^NF/]',
          message: 'Use `normalForm` of @dispatch/common: the time of String.normalize grows with the square of a row of marks.'
        }
      ]
    }
  },
  {
    files: ['core/store/**/*.ts', 'core/packages/{accounts,tables}/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: 'CallExpression[callee.property.name=/^(selectAll|returningAll)$/]',
          message: 'Name the columns (core/packages/tables/columns.ts): a prepared statement of `*` fails once a migration adds one.'
        },
        {
          selector: 'TemplateElement[value.raw=/\\b(select|returning) (\\w+\\.)?\\*/]',
          message: 'Name the columns (core/packages/tables/columns.ts): a prepared statement of `*` fails once a migration adds one.'
        }
      ]
    }
  },
  {
    files: ['test/**/*.ts', 'core/packages/{*,features/*}/test/**/*.ts'],
    rules: {
      // tap's own compare lists only as far as the expected one goes: test/support/matching.ts has what compares all.
      // Those of a text, a map or a set have one argument.
      'no-restricted-syntax': [
        'error',
        {
          selector: 'CallExpression[arguments.length>1][callee.property.name=/^(not)?([mM]atch|[hH]as)(Only)?(Strict)?$/]',
          message: 'Use `matches`, `has`, `contains` or `lacks` of test/support/matching.ts.'
        }
      ],
      // tap's assertions return promises only for promise arguments.
      '@typescript-eslint/no-floating-promises': ['error', { ignoreVoid: true }],
      '@typescript-eslint/no-non-null-assertion': 'off',
      // Tests read answers as a client does: JSON whose shape they are about to assert.
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off'
    }
  }
)
