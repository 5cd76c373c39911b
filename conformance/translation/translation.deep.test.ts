import '../support/deep.ts';
import './translation.test.ts';
