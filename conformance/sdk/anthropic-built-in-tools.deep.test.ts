import '../support/deep.ts';
import './anthropic-built-in-tools.test.ts';
