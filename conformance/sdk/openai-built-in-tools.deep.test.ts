import '../support/deep.ts';
import './openai-built-in-tools.test.ts';
