import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** Who may know whom: a folder imports only what stands here (docs/architecture.md). */
const MAY_IMPORT = {
  domain: [],
  outbound: ['domain'],
  secrets: ['domain'],
  store: ['domain'],
  model: ['domain', 'outbound', 'secrets'],
  tools: ['domain', 'outbound', 'secrets'],
  coder: ['domain'],
  workflows: ['domain'],
  activities: ['domain', 'outbound', 'secrets', 'store', 'model', 'tools', 'workflows'],
  workers: ['domain', 'outbound', 'secrets', 'store', 'model', 'tools', 'workflows', 'activities'],
  server: ['domain', 'secrets', 'store', 'tools', 'coder', 'workflows'],
  cli: [
    'domain',
    'outbound',
    'secrets',
    'store',
    'tools',
    'coder',
    'workflows',
    'activities',
    'workers',
    'server',
  ],
};
const FOLDERS = Object.keys(MAY_IMPORT);

/** Workflows know activities by their types only; a workflow's code would not even load theirs. */
const TYPES_ONLY = { workflows: ['activities'] };

function importDirections(folder) {
  const forbidden = FOLDERS.filter((other) => other !== folder && !MAY_IMPORT[folder].includes(other));
  return {
    files: [`src/${folder}/**/*.ts`],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          patterns: [
            ...forbidden.map((other) => ({
              regex: `(^|/)\\.\\./${other}(/|$)`,
              message: `${folder} must not know ${other}.`,
              allowTypeImports: (TYPES_ONLY[folder] ?? []).includes(other),
            })),
            ...(folder === 'store' ? [] : [{ regex: '^redis$', message: 'Only store/ knows Redis.' }]),
            ...(folder === 'domain'
              ? [
                  {
                    regex: '^(node:|@temporalio/|express)',
                    message: 'domain/ is pure: no I/O, no Temporal, no Node.',
                  },
                ]
              : []),
            ...(folder === 'workflows'
              ? [{ regex: '^(node:|zod$|express)', message: 'Workflows have neither Node nor schemas.' }]
              : []),
            ...(folder === 'server'
              ? [
                  {
                    regex:
                      '(^|/)\\.\\./workflows/(?!messages$|call-options$|turn-options$|search-attributes$)',
                    message: 'The server knows only messages and options of workflows.',
                    allowTypeImports: true,
                  },
                ]
              : []),
          ],
        },
      ],
    },
  };
}

export default tseslint.config(
  { ignores: ['dist/', '.cache/', '.portcullis/', 'coverage/', 'test/embedded/fixtures/'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.strictTypeChecked, ...tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-unused-vars': ['error', { varsIgnorePattern: '^_', argsIgnorePattern: '^_' }],
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
      // It does not see what changes while a function awaits, and objects to checks that are needed then.
      '@typescript-eslint/no-unnecessary-condition': 'off',
      '@typescript-eslint/no-generated-empty-object-type': 'off',
      // JSON is about control characters.
      'no-control-regex': 'off',
      // Index signatures are read by index: TypeScript's own option wants it so.
      '@typescript-eslint/dot-notation': 'off',
      'no-console': 'error',
      'max-lines': ['error', { max: 400, skipBlankLines: false, skipComments: false }],
    },
  },
  ...FOLDERS.map(importDirections),
  {
    // A workflow's module is shared by many executions: a variable there would leak from one into another.
    files: ['src/workflows/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        { selector: 'Program > VariableDeclaration[kind="let"]', message: 'No top-level let in workflows.' },
        { selector: 'Program > VariableDeclaration[kind="var"]', message: 'No top-level var in workflows.' },
      ],
    },
  },
  { files: ['src/cli/**/*.ts'], rules: { 'no-console': 'off' } },
  // Asks a server that it has just started whether it answers; there is no tenant yet.
  {
    files: ['src/cli/embedded/redis-server.ts'],
    rules: { '@typescript-eslint/no-restricted-imports': 'off' },
  },
  {
    files: ['test/**/*.ts', 'bench/**/*.ts'],
    rules: {
      'no-console': 'off',
      // Answers of the API are read freely in tests.
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      // Fakes have the shape that is asked for, also where they do nothing.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-empty-function': 'off',
      'require-yield': 'off',
    },
  },
  {
    files: ['**/*.js', '**/*.cjs', '**/*.mjs'],
    languageOptions: {
      globals: {
        console: 'readonly',
        process: 'readonly',
        require: 'readonly',
        module: 'writable',
        URL: 'readonly',
        setTimeout: 'readonly',
        clearTimeout: 'readonly',
        __dirname: 'readonly',
      },
    },
  },
);
