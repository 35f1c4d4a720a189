// The statements of Delta Upkeep, and Delta's REORG, which has a dry run here. Everything else belongs to the delegate
// parser, also a VACUUM without options: its command is replaced later.
// The lexer reads a CapitalStream, so keywords have no case.
grammar UpkeepSqlBase;

singleStatement
    : statement ';'* EOF
    ;

statement
    : EXPLAIN (EXTENDED | CODEGEN | COST | FORMATTED)? maintenance      #explain
    | maintenance                                                       #run
    ;

maintenance
    : OPTIMIZE target optimizeClauses                                   #optimize
    | REORG TABLE target (WHERE predicate)?
        APPLY LEFT_PAREN PURGE RIGHT_PAREN dryRun?                      #reorg
    | CHECKPOINT target dryRun? optionList?                             #checkpoint
    | CLEANUP LOG target retain? dryRun? optionList?                    #cleanupLog
    | VACUUM target (FULL | LITE)? usingInventory? retain? dryRun?
        optionList                                                      #vacuum
    | ANALYZE TABLE target COMPUTE DELTA STATISTICS forColumns?
        (WHERE predicate)? dryRun? optionList?                          #analyze
    | FSCK REPAIR TABLE target dryRun? optionList?                      #fsck
    | (DESC | DESCRIBE) HEALTH target                                   #describeHealth
    | MAINTAIN target dryRun? optionList?                               #maintain
    ;

// What follows the table of an OPTIMIZE, a rule of its own because Delta's grammar takes everything
// behind WHERE as the predicate, and the rest has to be read again.
singleOptimizeClauses
    : optimizeClauses ';'* EOF
    ;

optimizeClauses
    : FULL? (WHERE predicate)? (zorderBy | orderBy)? dryRun? optionList?
    ;

// Spark parses the expression: only its extent is found here.
predicate
    : .+?
    ;

zorderBy
    : ZORDER BY LEFT_PAREN columns+=multipartName (COMMA columns+=multipartName)* RIGHT_PAREN
    | ZORDER BY columns+=multipartName (COMMA columns+=multipartName)*
    ;

orderBy
    : ORDER BY LEFT_PAREN keys+=sortKey (COMMA keys+=sortKey)* RIGHT_PAREN
    ;

sortKey
    : multipartName (ASC | DESC)?
    ;

forColumns
    : FOR COLUMNS LEFT_PAREN columns+=multipartName (COMMA columns+=multipartName)* RIGHT_PAREN
    | FOR COLUMNS columns+=multipartName (COMMA columns+=multipartName)*
    ;

// A table, or a query, which Spark parses.
usingInventory
    : USING INVENTORY (table=multipartName | LEFT_PAREN query=expression RIGHT_PAREN)
    ;

retain
    : RETAIN (number | parameter) HOURS
    ;

dryRun
    : DRY RUN
    ;

optionList
    : OPTIONS LEFT_PAREN (optionEntry (COMMA optionEntry)*)? RIGHT_PAREN
    ;

optionEntry
    : key=optionKey EQ value=optionValue
    ;

optionKey
    : multipartName
    | STRING
    ;

optionValue
    : STRING
    | number
    | parameter
    | identifier
    ;

target
    : path=STRING
    | IDENTIFIER_CLAUSE LEFT_PAREN expression RIGHT_PAREN
    | table=multipartName
    ;

// Spark parses it too.
expression
    : (~(LEFT_PAREN | RIGHT_PAREN) | LEFT_PAREN expression? RIGHT_PAREN)+
    ;

// A value that comes apart from the text. Those in expressions are found by Spark's parser.
parameter
    : COLON identifier
    | QUESTION
    ;

multipartName
    : identifier (DOT identifier)*
    ;

identifier
    : IDENTIFIER
    | BACKQUOTED_IDENTIFIER
    | INTEGER
    | nonReserved
    ;

number
    : MINUS? (INTEGER | DECIMAL)
    ;

nonReserved
    : ANALYZE | APPLY | ASC | BY | CHECKPOINT | CLEANUP | CODEGEN | COLUMNS | COMPUTE | COST | DELTA | DESC | DESCRIBE | DRY | EXPLAIN
    | EXTENDED | FOR | FORMATTED | FSCK | FULL | HEALTH | HOURS | IDENTIFIER_CLAUSE | INVENTORY | LITE | LOG | MAINTAIN
    | OPTIMIZE | OPTIONS | ORDER | PURGE | REORG | REPAIR | RETAIN | RUN | STATISTICS | TABLE | USING | VACUUM | WHERE | ZORDER
    ;

ANALYZE: 'ANALYZE';
APPLY: 'APPLY';
ASC: 'ASC';
BY: 'BY';
CHECKPOINT: 'CHECKPOINT';
CLEANUP: 'CLEANUP';
CODEGEN: 'CODEGEN';
COLUMNS: 'COLUMNS';
COMPUTE: 'COMPUTE';
COST: 'COST';
DELTA: 'DELTA';
DESC: 'DESC';
DESCRIBE: 'DESCRIBE';
DRY: 'DRY';
EXPLAIN: 'EXPLAIN';
EXTENDED: 'EXTENDED';
FOR: 'FOR';
FORMATTED: 'FORMATTED';
FSCK: 'FSCK';
FULL: 'FULL';
HEALTH: 'HEALTH';
HOURS: 'HOURS';
IDENTIFIER_CLAUSE: 'IDENTIFIER';
INVENTORY: 'INVENTORY';
LITE: 'LITE';
LOG: 'LOG';
MAINTAIN: 'MAINTAIN';
OPTIMIZE: 'OPTIMIZE';
OPTIONS: 'OPTIONS';
ORDER: 'ORDER';
PURGE: 'PURGE';
REORG: 'REORG';
REPAIR: 'REPAIR';
RETAIN: 'RETAIN';
RUN: 'RUN';
STATISTICS: 'STATISTICS';
TABLE: 'TABLE';
USING: 'USING';
VACUUM: 'VACUUM';
WHERE: 'WHERE';
ZORDER: 'ZORDER';

COLON: ':';
COMMA: ',';
DOT: '.';
EQ: '=';
LEFT_PAREN: '(';
MINUS: '-';
QUESTION: '?';
RIGHT_PAREN: ')';

STRING
    : '\'' (~['\\] | '\\' . | '\'\'')* '\''
    | '"' (~["\\] | '\\' . | '""')* '"'
    ;

INTEGER
    : DIGIT+
    ;

DECIMAL
    : DIGIT+ '.' DIGIT*
    | '.' DIGIT+
    ;

IDENTIFIER
    : (LETTER | DIGIT | '_')+
    ;

BACKQUOTED_IDENTIFIER
    : '`' (~'`' | '``')* '`'
    ;

SIMPLE_COMMENT
    : '--' ('\\\n' | ~[\r\n])* '\r'? '\n'? -> channel(HIDDEN)
    ;

BRACKETED_COMMENT
    : '/*' (BRACKETED_COMMENT | .)*? '*/' -> channel(HIDDEN)
    ;

WS
    : [ \r\n\t\u00A0\u3000]+ -> channel(HIDDEN)
    ;

// Any other character may stand in a predicate; elsewhere it is a syntax error at its place.
UNRECOGNIZED
    : .
    ;

fragment DIGIT
    : [0-9]
    ;

fragment LETTER
    : [\p{L}]
    ;
