"""What tests share: sessions, tables of other writers, readers of other engines, checks."""
